// Package migrations holds the schema of each kind of database as numbered
// SQL files. The same number makes the same change in every kind.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed postgres/*.sql sqlite/*.sql
var files embed.FS

// SQLite returns the migrations of SQLite databases, one file each.
func SQLite() fs.FS { return sub("sqlite") }

// Postgres returns the migrations of Postgres databases, one file each.
func Postgres() fs.FS { return sub("postgres") }

// sub returns one folder of files. It panics when there is none, which only a
// wrong build can cause.
func sub(folder string) fs.FS {
	fsys, err := fs.Sub(files, folder)
	if err != nil {
		panic(err)
	}
	return fsys
}
