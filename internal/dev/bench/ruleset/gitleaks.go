package ruleset

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
)

// gitleaksModule has the default configuration of gitleaks. The version is fixed
// so that results can be compared over time.
const gitleaksModule = "github.com/zricethezav/gitleaks/v8@v8.30.1"

// Gitleaks reads the patterns of gitleaks' default configuration out of the
// module cache, where go puts it when it isn't there. refused tells which
// patterns prwarden doesn't take, by id, and why.
func Gitleaks(ctx context.Context) (rules []Rule, refused map[string]string, err error) {
	out, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", gitleaksModule).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("download %s: %w %s", gitleaksModule, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, nil, err
	}
	file, err := os.Open(filepath.Join(module.Dir, "config", "gitleaks.toml"))
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	return parseGitleaks(file)
}

// parseGitleaks reads the id and regex of each rule, which the configuration has
// on a line each, and nothing else: what gitleaks also demands of a match
// (keywords, entropy, paths, allowlists) is no part of the pattern.
func parseGitleaks(r io.Reader) (rules []Rule, refused map[string]string, err error) {
	refused = map[string]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	id, inRule := "", false
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			inRule = line == "[[rules]]"
			continue
		}
		key, value, _ := strings.Cut(line, " = ")
		switch {
		case !inRule:
		case key == "id":
			id = strings.Trim(value, `"`)
		case key == "regex":
			pattern, ok := strings.CutPrefix(value, "'''")
			pattern, end := strings.CutSuffix(pattern, "'''")
			if !ok || !end {
				return nil, nil, fmt.Errorf("rule %s: its regex isn't one line between '''", id)
			}
			if err := match.CheckPattern(pattern); err != nil {
				refused[id] = err.Error()
				continue
			}
			rules = append(rules, Rule{ID: id, Pattern: pattern})
		}
	}
	return rules, refused, lines.Err()
}
