// Package build is what is known of the program's own build.
package build

import (
	"runtime"
	"runtime/debug"
)

// What the linker is given where a release is built, which knows no git.
// Nothing else sets them.
var (
	version string
	commit  string
)

// Info is what is known of the program's own build.
type Info struct {
	Version  string // of the release or the module, `(devel)` when there is none
	Commit   string // of git, `unknown` when the build does not know
	Modified bool   // whether the tree differed from the commit
	Go       string // version of Go
}

// Read returns what the build put into the program.
func Read() Info {
	b := Info{Version: "(devel)", Commit: "unknown", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
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
	if version != "" {
		b.Version, b.Commit, b.Modified = version, commit, false
	}
	return b
}
