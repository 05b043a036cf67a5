//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
)

// serverCommands are none: server and scanner are for Linux.
func serverCommands(cli.Streams) []*cobra.Command { return nil }

// schemaVersion is 0: this build knows no database.
func schemaVersion() int64 { return 0 }
