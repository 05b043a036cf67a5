package cli

import (
	"fmt"
	"runtime"

	"github.com/prwarden/prwarden/internal/build"
)

// Version prints the version. schema is that of the database, 0 in a build
// without the server.
func Version(st Streams, schema int64) error {
	b := build.Read()
	commit := b.Commit
	if b.Modified {
		commit += " (with changes)"
	}
	text := fmt.Sprintf("prwarden %s\ncommit:  %s\ngo:      %s %s/%s\n",
		b.Version, commit, b.Go, runtime.GOOS, runtime.GOARCH)
	if schema > 0 {
		text += fmt.Sprintf("schema:  %d\n", schema)
	}
	_, err := fmt.Fprint(st.Out, text)
	return err
}
