package engine

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/dev/bench/ruleset"
)

//go:embed c/vectorscan.c
var vectorscanSource []byte

// hsFlagMultiline is HS_FLAG_MULTILINE: ^ and $ mean the ends of a line.
const hsFlagMultiline = 4

// ErrNoVectorscan is that the machine can't build against vectorscan.
var ErrNoVectorscan = errors.New("vectorscan can't be built here; on Debian: apt-get install gcc libvectorscan-dev (or libhyperscan-dev)")

// VectorscanProgram is the small C program that runs vectorscan.
type VectorscanProgram struct{ path string }

// BuildVectorscan compiles the program into dir.
func BuildVectorscan(ctx context.Context, dir string) (VectorscanProgram, error) {
	source := filepath.Join(dir, "vectorscan.c")
	if err := os.WriteFile(source, vectorscanSource, 0o600); err != nil {
		return VectorscanProgram{}, err
	}
	p := VectorscanProgram{path: filepath.Join(dir, "vectorscan")}
	build := exec.CommandContext(ctx, "gcc", "-O2", "-march=native", "-I/usr/include/hs", "-o", p.path, source, "-lhs")
	if out, err := build.CombinedOutput(); err != nil {
		return VectorscanProgram{}, fmt.Errorf("%w: %w %s", ErrNoVectorscan, err, out)
	}
	return p, nil
}

// Check tells which rules vectorscan can't take, by id, and why.
func (p VectorscanProgram) Check(ctx context.Context, rules []ruleset.Rule, dir string) (map[string]string, error) {
	refused := map[string]string{}
	var rest []ruleset.Rule
	for _, r := range rules {
		if _, err := ruleset.ByteSyntax(r.Pattern); err != nil {
			refused[r.ID] = err.Error()
			continue
		}
		rest = append(rest, r)
	}
	patterns := filepath.Join(dir, "check.txt")
	if err := writePatterns(patterns, rest); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, p.path, "check", patterns).Output()
	if err != nil {
		return nil, fmt.Errorf("vectorscan: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		index, why, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		i, err := strconv.Atoi(index)
		if err != nil || i >= len(rest) {
			return nil, fmt.Errorf("vectorscan: unexpected output %q", line)
		}
		refused[rest[i].ID] = why
	}
	return refused, nil
}

// Start is like the function Start. mode is "block", a call for each file, or
// "concat", one call for all.
func (p VectorscanProgram) Start(ctx context.Context, rules []ruleset.Rule, pack, mode, dir string) (*Process, error) {
	patterns := filepath.Join(dir, "patterns.txt")
	if err := writePatterns(patterns, rules); err != nil {
		return nil, err
	}
	return start(ctx, Vectorscan, Options{Cores: 1}, []string{p.path, "serve", patterns, pack, mode})
}

func writePatterns(path string, rules []ruleset.Rule) error {
	var b strings.Builder
	for _, r := range rules {
		pattern, err := ruleset.ByteSyntax(r.Pattern)
		if err != nil {
			return fmt.Errorf("rule %s: %w", r.ID, err)
		}
		flags := 0
		if strings.ContainsAny(pattern, "^$") {
			flags |= hsFlagMultiline
		}
		fmt.Fprintf(&b, "%d\t%s\n", flags, pattern)
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
