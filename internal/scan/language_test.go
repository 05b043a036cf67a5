package scan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

func languages(names ...string) func(*rule.Rule) { return func(r *rule.Rule) { r.Languages = names } }

// A rule looks at the files that have one of its languages, by their name or their
// first line, and that its paths let through.
func TestLanguages(t *testing.T) {
	t.Parallel()
	const shell = "\nsubprocess.run(cmd, shell=True)\n"
	p := &pull{files: []scan.File{
		file("app.PY", shell),
		file("app.py", shell),
		file("app.pyw", shell),
		file("deploy", "#!/usr/bin/env python3"+shell),
		file("gui.py", "# -*- mode: text; -*-"+shell),
		file("notes.txt", "# -*- mode: python; -*-"+shell),
		file("run", "#!/bin/sh"+shell),
		file("run.py", "#!/bin/sh"+shell),
		file("tests/app.py", shell),
		file("vim.py", "# vim: set ft=text :"+shell),
	}}
	notTests := func(r *rule.Rule) { r.Paths.Exclude = []string{"tests/**"} }
	got := run(t, p, regex("py", "shell=True", languages("Python", "ruby"), notTests),
		regex("sh", "shell=True", languages("bash")), regex("none", "shell=True", languages("cobol")))

	assert.Equal(t, []string{
		"app.PY:2 custom/py", "app.py:2 custom/py", "app.pyw:2 custom/py", "deploy:2 custom/py", "gui.py:2 custom/py",
		"run:2 custom/sh", "run.py:2 custom/py", "run.py:2 custom/sh", "vim.py:2 custom/py",
	}, places(got))
}

// A language that a scanner doesn't know yet is of no file, and has nothing to do with
// other rules.
func TestUnknownLanguage(t *testing.T) {
	t.Parallel()
	p := &pull{files: []scan.File{file("a.py", "todo\n")}}
	got := run(t, p, regex("b", "todo"), regex("a", "todo", languages("not-known-yet")))
	assert.Equal(t, []string{"a.py:1 custom/b"}, places(got))
}
