package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/demo/stage"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/dev/program"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

// merges compares local scans with reviews of a server. Both apply the probes beside the default ruleset.
type merges struct {
	*program.Installation
	server *program.Process
	client program.Client
	rules  string // the probes, as a file
}

func newMerges(ctx context.Context, dir string) (_ *merges, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	m := &merges{rules: filepath.Join(dir, "probes.yml")}
	if err := os.WriteFile(m.rules, difftest.Probes, 0o600); err != nil {
		return nil, err
	}
	if m.Installation, err = stage.Install(ctx, filepath.Join(filepath.Dir(self), "prwarden"), dir); err != nil {
		return nil, err
	}
	if m.client.Token, err = m.Key(ctx, "demo"); err != nil {
		return nil, err
	}
	if m.server, err = m.Serve(ctx); err != nil {
		return nil, err
	}
	m.client.URL = "http://" + m.server.HTTP
	if err := m.createRules(ctx); err != nil {
		return nil, errors.Join(err, m.server.Stop())
	}
	return m, nil
}

// createRules makes the probes rules of the organization. Fields of rules files and of the API have the same names.
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
		if _, err := m.client.Call(ctx, http.MethodPost, "/v1/rules", string(body)); err != nil {
			return fmt.Errorf("rule %s: %w", r["id"], err)
		}
	}

	return nil
}

func (m *merges) check(ctx context.Context, path, name string, most int, t totals) error {
	folder, err := program.Git(ctx, path, "", "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return err
	}
	if err := link(m.Dir, name, folder); err != nil {
		return err
	}

	// What the second parent of a merge brings to the first is what a pull request would have been.
	list, err := program.Git(ctx, path, "", "rev-list", "--min-parents=2", "--max-parents=2", "--parents",
		fmt.Sprintf("--max-count=%d", most), "HEAD")
	if err != nil {
		return err
	}
	for line := range strings.Lines(list) {
		commits := strings.Fields(line)
		t.differ(fmt.Sprintf("%s: merge %s", path, commits[0]), m.merge(ctx, folder, name, commits[1], commits[2], t))
	}
	return nil
}

// merge compares the answers about one merge and adds to the totals.
func (m *merges) merge(ctx context.Context, folder, name, base, head string, t totals) []string {
	local, localErr := m.run(ctx, folder, "scan", "--base", base, "--head", head, "--rules", m.rules)
	remote, remoteErr := m.run(ctx, m.Dir, "review", name, "1", "--head-sha", head, "--base-sha", base,
		"--server", m.client.URL)
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
	cmd := exec.CommandContext(ctx, m.Binary, append(args, "--output", "json", "--fail-on", "none")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRWARDEN_API_KEY="+m.client.Token)
	var trouble strings.Builder
	cmd.Stderr = &trouble
	out, err := cmd.Output()
	if err != nil {
		return a, fmt.Errorf("prwarden %s: %w: %s", args[0], err, strings.TrimSpace(trouble.String()))
	}
	return a, json.Unmarshal(out, &a)
}

// pulls compares pull requests with plain git.
type pulls struct {
	dir    string
	source scan.Source
	rules  *difftest.Rules
}

func newPulls(ctx context.Context, dir string) (*pulls, error) {
	p := &pulls{dir: dir}
	store, err := git.New(git.Options{Dir: filepath.Join(dir, "cache"), Limits: git.DefaultLimits()})
	if err != nil {
		return nil, err
	}
	host := organization.Host{Kind: organization.KindGit, URL: "file://" + dir + "/repos/{repo}.git"}
	p.source = gittest.AtHost{Source: codehost.New(store, gittest.NoToken), Host: host}
	rules, err := difftest.LoadRules(ctx)
	if err != nil {
		return nil, err
	}
	p.rules, err = difftest.NewRules(rules)
	return p, err
}

func (p *pulls) check(ctx context.Context, path, name string, most int, t totals) error {
	if err := link(p.dir, name, path); err != nil {
		return err
	}
	numbers, err := pullNumbers(ctx, path, most)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		problems, err := p.pull(ctx, path, scan.Target{Organization: "check", Repo: name, Number: number}, t)
		if err != nil {
			return fmt.Errorf("pull request %d: %w", number, err)
		}
		t.differ(fmt.Sprintf("%s: pull request %d", path, number), problems)
	}

	return nil
}

// pull compares one pull request and adds to the totals.
func (p *pulls) pull(ctx context.Context, path string, target scan.Target, t totals) ([]string, error) {
	r, err := difftest.Compare(ctx, p.source, path, target)
	if err != nil {
		return nil, err
	}
	t.add(r.Counts)
	if r.Failed {
		return r.Problems, nil
	}
	found, err := p.rules.CompareFindings(ctx, p.source, path, target)
	if err != nil {
		return nil, err
	}
	t.add(found.Counts)
	return append(r.Problems, found.Problems...), nil
}

// pullNumbers are the numbers to check, ascending and spread over all.
func pullNumbers(ctx context.Context, dir string, most int) ([]int32, error) {
	out, err := program.Git(ctx, dir, "", "for-each-ref", "--format=%(refname)", "refs/pull/")
	if err != nil {
		return nil, err
	}
	var numbers []int32
	for name := range strings.FieldsSeq(out) {
		middle, ok := strings.CutSuffix(strings.TrimPrefix(name, "refs/pull/"), "/head")
		if n, err := strconv.ParseInt(middle, 10, 32); ok && err == nil && n > 0 {
			numbers = append(numbers, int32(n))
		}
	}

	slices.Sort(numbers)

	spread := make([]int32, min(most, len(numbers)))
	for i := range spread {
		spread[i] = numbers[i*len(numbers)/len(spread)]
	}
	return spread, nil
}
