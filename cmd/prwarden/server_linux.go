package main

import (
	"github.com/spf13/cobra"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
)

// serverCommands are the commands that run the service.
func serverCommands(st cli.Streams) []*cobra.Command {
	return []*cobra.Command{
		newServe(st), newScanner(st), newMigrate(st), newBackup(st), newRestore(st), newKeys(st), newOrganizations(st),
	}
}

// schemaVersion is the one that this build needs.
func schemaVersion() int64 { return admin.SchemaVersion() }
