package codehost_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost/git"
	"github.com/prwarden/prwarden/internal/dev/difftest"
	"github.com/prwarden/prwarden/internal/dev/gittest"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/scan"
)

const org = "acme"

var target = scan.Target{Organization: org, Repo: gittest.Name, Number: 1}

// source makes a Source with one organization and an empty cache.
func source(t *testing.T, host organization.Host, change ...func(*git.Limits)) scan.Source {
	t.Helper()
	limits := git.DefaultLimits()
	limits.LowSpeed = time.Hour // servers are here, and the machine may be busy

	for _, c := range change {
		c(&limits)
	}

	store, err := git.New(git.Options{Dir: t.TempDir(), Limits: limits})
	require.NoError(t, err)
	return atHost{store, host}
}

// atHost opens every target at one host.
type atHost struct {
	scan.Source

	host organization.Host
}

func (h atHost) Open(ctx context.Context, t scan.Target) (scan.Change, error) {
	t.Host = h.host
	return h.Source.Open(ctx, t)
}

func fileHost(r *gittest.Repo) organization.Host {
	return organization.Host{Kind: organization.KindGit, URL: r.URL()}
}

// seen is what a scan sees of a file: its added lines' text, by number.
type seen struct {
	path      string
	lines     map[int]string
	submodule bool
}

// files reads a whole change and closes it.
func files(t *testing.T, c scan.Change) []seen {
	t.Helper()
	defer func() { assert.NoError(t, c.Close()) }()
	all := []seen{}

	for file, err := range c.Files(t.Context()) {
		require.NoError(t, err)
		s := seen{path: file.Path, submodule: file.Submodule}
		content := strings.Split(string(file.Content), "\n")
		for _, span := range file.Added {
			for n := span.First; n <= span.Last; n++ {
				if s.lines == nil {
					s.lines = map[int]string{}
				}
				s.lines[n] = content[n-1]
			}
		}
		all = append(all, s)
	}

	assert.Equal(t, c.FileCount(), len(all))
	return all
}

// open opens pull request 1 of r with an empty cache.
func open(t *testing.T, r *gittest.Repo) scan.Change {
	t.Helper()
	c, err := source(t, fileHost(r)).Open(t.Context(), target)
	require.NoError(t, err)
	return c
}

// failure is what Open fails with.
func failure(t *testing.T, ctx context.Context, s scan.Source) *scan.Failure {
	t.Helper()
	c, err := s.Open(ctx, target)
	if c != nil {
		c.Close()
	}

	var f *scan.Failure
	require.ErrorAs(t, err, &f)
	assert.NotEmpty(t, f.Message)
	return f
}

// agrees checks pull request 1 of r against plain git.
func agrees(t *testing.T, r *gittest.Repo) {
	t.Helper()
	result, err := difftest.Compare(t.Context(), source(t, fileHost(r)), r.Dir, target)
	require.NoError(t, err)
	assert.Empty(t, result.Problems)
}

// readAll opens and reads a change, and returns the first failure.
func readAll(ctx context.Context, s scan.Source) error {
	c, err := s.Open(ctx, target)
	if err != nil {
		return err
	}

	for _, fileErr := range c.Files(ctx) {
		err = errors.Join(err, fileErr)
	}

	return errors.Join(err, c.Close())
}
