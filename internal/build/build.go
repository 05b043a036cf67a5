// Package build is what is known of the program's own build.
package build

import (
	"runtime"
	"runtime/debug"
)

// Info is what is known of the program's own build.
type Info struct {
	Version  string // of the module, `(devel)` outside of a release
	Commit   string // of git, `unknown` when the build does not know
	Modified bool   // whether the tree differed from the commit
	Go       string // version of Go
}

// Read returns what the Go toolchain put into the program.
func Read() Info {
	b := Info{Version: "(devel)", Commit: "unknown", Go: runtime.Version()}
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
