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

// Code in markup has its own language. Where that is new, the rules for it are matched
// on all lines.
func TestLanguagesInside(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		" x\n+todo\n":                        {},
		"+<html>\n+<?php\n+todo\n":           {"a.html:3 custom/php"},
		" todo\n <?php\n+todo\n":             {"a.html:3 custom/php"},
		" todo\n+<?php\n":                    {"a.html:1 custom/php"},
		" todo\n-<?php\n+<?php 1\n+todo\n":   {"a.html:3 custom/php"},
		" todo\n-<?php\n <script>\n+todo\n":  {"a.html:3 custom/js"},
		" todo\n-<?php\n+<script>\n todo\n":  {"a.html:1 custom/js", "a.html:3 custom/js"},
		" todo\n <?php\n todo\n-x\n":         {},
		" <?php\n <script>\n+<?php\n+todo\n": {"a.html:4 custom/js", "a.html:4 custom/php"},
	} {
		got := run(t, &pull{files: []scan.File{diffed("a.html", text)}},
			regex("php", "todo", languages("php")), regex("js", "todo", languages("javascript")))
		assert.Equal(t, want, places(got), text)
	}
}
