//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
)

// serverCommands are none: server and scanner are for Linux.
func serverCommands(cli.Streams) []*cobra.Command { return nil }
