package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Build is what is known of the program's own build.
type Build struct {
	Version  string // of the module, `(devel)` outside of a release
	Commit   string // of git, `unknown` when the build does not know
	Modified bool   // whether the tree differed from the commit
	Go       string // version of Go
}

// ReadBuild returns what the Go toolchain put into the program.
func ReadBuild() Build {
	b := Build{Version: "(devel)", Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// Version prints the version. schema is that of the database, 0 in a build
// without the server.
func Version(st Streams, schema int64) error {
	b := ReadBuild()
	commit := b.Commit
	if b.Modified {
		commit += " (with changes)"
	}
	text := fmt.Sprintf("prwarden %s\ncommit:  %s\ngo:      %s %s/%s\n", b.Version, commit, b.Go, runtime.GOOS, runtime.GOARCH)
	if schema > 0 {
		text += fmt.Sprintf("schema:  %d\n", schema)
	}
	_, err := fmt.Fprint(st.Out, text)
	return err
}
