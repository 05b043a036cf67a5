package admin

import (
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/prwarden/prwarden/migrations"
)

// SchemaVersion is the version of the database schema that this program
// needs: the highest number of its migrations.
func SchemaVersion() int64 {
	var version int64
	files, err := fs.Glob(migrations.SQLite(), "*.sql")
	if err != nil {
		return 0
	}
	for _, name := range files {
		if n, err := goose.NumericComponent(name); err == nil {
			version = max(version, n)
		}
	}
	return version
}
