package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/difftest"
)

// merges compares local scans with reviews of a server. Both apply the probes
// beside the default ruleset.
type merges struct {
	dir    string
	rules  string // the probes, as a file
	server *stage.Server
	key    string
}

func newMerges(ctx context.Context, dir string) (_ *merges, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &merges{dir: dir, rules: filepath.Join(dir, "probes.yml")}
	if err := os.WriteFile(m.rules, difftest.Probes, 0o600); err != nil {
		return nil, err
	}
	if m.server, err = stage.Start(filepath.Join(filepath.Dir(self), "prwarden"), dir, "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if m.key, err = m.server.CreateKey("demo"); err == nil {
		err = m.createRules(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

func (m *merges) close() error { return m.server.Stop() }

// createRules makes the probes rules of the organization. Fields of rules files
// and of the API have the same names.
func (m *merges) createRules(ctx context.Context) error {
	var file struct{ Rules []map[string]any }
	if err := yaml.Unmarshal(difftest.Probes, &file); err != nil {
		return err
	}
	for _, r := range file.Rules {
		body, err := json.Marshal(r)
		if err != nil {
			return err
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, m.server.URL+"/v1/rules", bytes.NewReader(body))
		if err != nil {
			return err
		}
		q.Header.Set("Authorization", "Bearer "+m.key)
		q.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(answer.Body)
		if err := errors.Join(err, answer.Body.Close()); err != nil {
			return err
		}
		if answer.StatusCode != http.StatusCreated {
			return fmt.Errorf("rule %s: %s: %s", r["id"], answer.Status, text)
		}
	}
	return nil
}

func (m *merges) check(ctx context.Context, path, name string, most int) (totals, error) {
	command := exec.CommandContext(ctx, "git", "-C", path, "rev-parse", "--path-format=absolute", "--git-common-dir")
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	git := strings.TrimSpace(string(out))
	if err := link(m.dir, name, git); err != nil {
		return nil, err
	}
	// What the second parent of a merge brings to the first is what a pull
	// request would have been.
	out, err = exec.CommandContext(ctx, "git", "--git-dir", git, "rev-list", "--min-parents=2", "--max-parents=2",
		"--parents", fmt.Sprintf("--max-count=%d", most), "HEAD").Output()
	if err != nil {
		return nil, err
	}
	t := totals{}
	for line := range strings.Lines(string(out)) {
		commits := strings.Fields(line)
		problems := m.merge(ctx, git, name, commits[1], commits[2], t)
		t.differ(fmt.Sprintf("%s: merge %s", path, commits[0]), problems)
	}
	return t, nil
}

// merge compares the answers about one merge and adds to the totals.
func (m *merges) merge(ctx context.Context, git, name, base, head string, t totals) []string {
	local, localErr := m.run(ctx, git, "scan", "--base", base, "--head", head, "--rules", m.rules)
	remote, remoteErr := m.run(ctx, m.dir, "review", name, "1", "--head-sha", head, "--base-sha", base,
		"--server", m.server.URL)
	t["merges"]++
	switch {
	case localErr != nil && remoteErr != nil &&
		strings.Contains(localErr.Error(), "no commit in common") && strings.Contains(remoteErr.Error(), "no_merge_base"):
		t["without a merge base for either"]++
		return nil
	case localErr != nil || remoteErr != nil:
		return []string{fmt.Sprintf("locally: %v; by the server: %v", localErr, remoteErr)}
	}
	t["findings"] += len(local.Findings)
	t["suppressed"] += len(local.Suppressed)
	t["skipped"] += len(local.Skipped)
	problems, stopped := difftest.CompareAnswers(local, remote)
	t["rules out of time"] += len(stopped)
	return problems
}

// run runs the program and reads its answer.
func (m *merges) run(ctx context.Context, dir string, args ...string) (a difftest.Answer, err error) {
	cmd := exec.CommandContext(ctx, m.server.Binary, append(args, "--output", "json", "--fail-on", "none")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRWARDEN_API_KEY="+m.key)
	var trouble bytes.Buffer
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		return a, fmt.Errorf("prwarden %s: %w: %s", args[0], err, strings.TrimSpace(trouble.String()))
	}
	return a, json.Unmarshal(out, &a)
}
