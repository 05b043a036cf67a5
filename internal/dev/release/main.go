// Command release builds the archives of a release from a commit: for each
// system a static program with its completions, man pages and documents, an
// SBOM beside it, and one list of checksums. Two runs on the same commit with
// the same version of Go give the same bytes, wherever they run.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "version of the release, such as v1.2.3")
	commit := flags.String("commit", "HEAD", "what to build; changes in the work tree don't count")
	out := flags.String("out", "dist", "folder that gets a folder with the version's name")
	only := flags.String("only", "", "systems to build for, separated by commas; all without")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unknown argument %q", flags.Arg(0))
	}
	if runtime.GOOS != "linux" {
		return fmt.Errorf("releases are built on Linux, because the server's man pages are written by a server; this is %s", runtime.GOOS)
	}
	r := release{Version: *version, Log: w}
	if !versions.MatchString(r.Version) {
		return fmt.Errorf("-version: %q is not a version; write it as v1.2.3 or v1.2.3-rc.1", *version)
	}
	var err error
	if r.Targets, err = parseTargets(*only); err != nil {
		return err
	}
	return r.make(ctx, *commit, *out)
}

// versions are semantic ones, as Go has them.
var versions = regexp.MustCompile(`^v(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(-[0-9A-Za-z.-]{1,40})?$`)

// target is a system that is built for.
type target struct{ OS, Arch string }

func (t target) String() string { return t.OS + "/" + t.Arch }

// program is the file name of the program.
func (t target) program() string {
	if t.OS == "windows" {
		return "prwarden.exe"
	}
	return "prwarden"
}

// targets are all systems. Server and scanner are in the programs for Linux.
func targets() []target {
	return []target{
		{"linux", "amd64"}, {"linux", "arm64"},
		{"darwin", "amd64"}, {"darwin", "arm64"},
		{"windows", "amd64"}, {"windows", "arm64"},
	}
}

// parseTargets reads a list of systems, "" for all.
func parseTargets(list string) ([]target, error) {
	all := targets()
	if list == "" {
		return all, nil
	}
	known := map[string]target{}
	var names []string
	for _, t := range all {
		known[t.String()] = t
		names = append(names, t.String())
	}
	var chosen []target
	for name := range strings.SplitSeq(list, ",") {
		t, ok := known[name]
		if !ok {
			return nil, fmt.Errorf("-only: %q is not a system of releases; those are %s", name, strings.Join(names, ", "))
		}
		chosen = append(chosen, t)
	}
	return chosen, nil
}
