//go:build !linux

package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
)

// serverCommands are those that need no database: server and scanner are for Linux.
func serverCommands(st cli.Streams) []*cobra.Command {
	return []*cobra.Command{newConnections(st, nil)}
}
