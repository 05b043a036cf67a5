package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Modules of the peers that are built from source, at versions whose
// dependencies can all be had from the public module proxy.
const (
	gitleaksModule    = "github.com/zricethezav/gitleaks/v8@v8.30.1"
	betterleaksModule = "github.com/betterleaks/betterleaks@v1.1.1"
)

// Missing is a peer that isn't here.
type Missing struct{ Name, How string }

// versionFile is the ending of a file beside a program that has its version.
const versionFile = ".version"

// Find looks for prwarden and its peers in dirs and then on the PATH. The first
// of found is prwarden; without it there is an error.
func Find(ctx context.Context, dirs ...string) (found []Program, missing []Missing, err error) {
	for _, p := range []struct {
		program Program
		binary  string
		version []string
		how     string
	}{
		{prwarden(), "prwarden", []string{"version"}, "make build"},
		{ripgrep(), "rg", []string{"--version"}, "apt-get install ripgrep"},
		{gitleaks("gitleaks"), "gitleaks", []string{"version"}, "make bench-peers"},
		{gitleaks("betterleaks", "--validation=false"), "betterleaks", []string{"version"}, "make bench-peers"},
	} {
		path, err := lookup(p.binary, dirs)
		if err != nil {
			if p.binary == "prwarden" {
				return nil, nil, fmt.Errorf("prwarden is not built: %s", p.how)
			}
			missing = append(missing, Missing{Name: p.program.Name, How: p.how})
			continue
		}
		p.program.path = path
		p.program.Version = version(ctx, path, p.version)
		found = append(found, p.program)
	}
	return found, missing, nil
}

func lookup(name string, dirs []string) (string, error) {
	for _, dir := range dirs {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return filepath.Abs(path)
		}
	}
	return exec.LookPath(name)
}

// version is what InstallPeers wrote of a program, or else the first line that it
// says of itself.
func version(ctx context.Context, path string, args []string) string {
	if text, err := os.ReadFile(path + versionFile); err == nil {
		return string(text)
	}
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(first)
}

// InstallPeers builds gitleaks and betterleaks into dir from the module cache,
// where go puts their source when it isn't there. It takes some minutes.
func InstallPeers(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for name, module := range map[string]string{"gitleaks": gitleaksModule, "betterleaks": betterleaksModule} {
		out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", module).Output()
		if err != nil {
			return fmt.Errorf("download %s: %w %s", module, err, out)
		}
		var source struct{ Dir, Version string }
		if err := json.Unmarshal(out, &source); err != nil {
			return err
		}
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, name), ".")
		build.Dir = source.Dir
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w %s", module, err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, name+versionFile), []byte(source.Version), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func prwarden() Program {
	return Program{
		Name: "prwarden",
		args: func(j Job, cores int) []string {
			return []string{"scan", "--all", j.dir, "--no-default-rules", "--rules", j.rules, "--output", "jsonl", "--fail-on", "none", "--jobs", strconv.Itoa(cores)}
		},
		parse: func(output []byte, dir string) ([]Hit, error) {
			var hits []Hit
			for line := range bytes.Lines(output) {
				var f struct {
					RuleID string `json:"rule_id"`
					File   string `json:"file"`
					Line   int    `json:"line"`
				}
				if err := json.Unmarshal(line, &f); err != nil {
					return nil, err
				}
				hits = append(hits, Hit{Rule: strings.TrimPrefix(f.RuleID, "custom/"), File: below(f.File, dir), Line: f.Line})
			}
			return hits, nil
		},
	}
}

func ripgrep() Program {
	return Program{
		Name: "ripgrep",
		args: func(j Job, cores int) []string {
			return []string{"--no-config", "--no-ignore", "--hidden", "--with-filename", "--line-number", "--no-heading", "--null",
				"--color=never", "--dfa-size-limit=2G", "--regex-size-limit=2G", "-j", strconv.Itoa(cores), "-f", j.patterns, j.dir}
		},
		noneFound: 1,
		parse: func(output []byte, dir string) ([]Hit, error) {
			var hits []Hit
			for line := range bytes.Lines(output) {
				path, rest, ok := bytes.Cut(line, []byte{0})
				number, _, colon := bytes.Cut(rest, []byte(":"))
				n, err := strconv.Atoi(string(number))
				if !ok || !colon || err != nil {
					return nil, fmt.Errorf("no path and line number in %.100q", line)
				}
				hits = append(hits, Hit{File: below(string(path), dir), Line: n})
			}
			return hits, nil
		},
	}
}

// gitleaks is gitleaks or betterleaks, without what they do beside matching.
func gitleaks(name string, more ...string) Program {
	return Program{
		Name: name,
		args: func(j Job, _ int) []string {
			return append([]string{"dir", "--config", j.config, "--no-banner", "--no-color", "--log-level=error", "--exit-code=0",
				"--max-decode-depth=0", "--ignore-gitleaks-allow", "--report-format=json", "--report-path=-", j.dir}, more...)
		},
		parse: func(output []byte, dir string) ([]Hit, error) {
			var findings []struct {
				RuleID    string
				File      string
				StartLine int
			}
			if err := json.Unmarshal(output, &findings); err != nil {
				return nil, err
			}
			var hits []Hit
			for _, f := range findings {
				hits = append(hits, Hit{Rule: f.RuleID, File: below(f.File, dir), Line: f.StartLine})
			}
			return hits, nil
		},
	}
}

// below is a path relative to dir, with slashes.
func below(path, dir string) string {
	if relative, err := filepath.Rel(dir, path); err == nil && filepath.IsAbs(path) {
		path = relative
	}
	return filepath.ToSlash(path)
}
