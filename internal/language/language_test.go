package language_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/language"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, line string
		want       string // a language that the file has; "" for none
	}{
		{"app.py", "", "python"},
		{"APP.PY", "", "python"},
		{"a/app.pyw", "", "python"},
		{"app.py ", "", "python"},
		{"app.py. .", "", "python"},
		{"app.py.bak", "", "python"},
		{"app.PY.orig.~", "", "python"},
		{"Dockerfile.old", "", "dockerfile"},
		{".bak", "", ""},
		{"deploy", "#!/usr/bin/env python3", "python"},
		{"deploy", "\ufeff#! /usr/bin/python3.12 -u", "python"},
		{"deploy", "#!/usr/bin/env -S uv run --script", "python"},
		{"deploy", "#!/USR/BIN/ENV PYTHON", "python"},
		{"deploy", "#!C:\\Python\\python.exe", "python"},
		{"deploy", "#!/usr/bin/pypy3", "python"},
		{"run", "#!/bin/sh -e", "shell"},
		{"run", "#!/bin/sh -e", "bourne shell"},
		{"run.zsh", "#!/bin/bash", "bourne shell"},
		{"run.sh", "#!/bin/zsh", "bourne shell"},
		{"run", "#!/bin/zsh", "shell"},
		{"run", "#!/usr/bin/Rscript", "r"},
		{"run.py", "#!/bin/sh", "python"},
		{"run.py", "#!/bin/sh", "shell"},
		{"app.py", "# -*- mode: text -*-", "python"},
		{"index", "<?php echo 1;", "php"},
		{"index.PHTML", "", "html+php"},
		{"Dockerfile", "", "dockerfile"},
		{"x/dockerfile", "", "dockerfile"},
		{"x/DOCKERFILE.prod", "", "dockerfile"},
		{"Dockerfile-web", "", "dockerfile"},
		{"web.Dockerfile", "", "dockerfile"},
		{"Containerfile", "", "dockerfile"},
		{"GNUMakefile", "", "makefile"},
		{"a.h", "", "c"},
		{"a.h", "", "c++"},
		{"a.d.ts", "", "typescript"},
		{"main.tf", "", "hcl"},
		{"roles/ssh/templates/sshd_config.j2", "", "ssh config"},
		{"etc/ssh/sshd_config.d/10-login.conf", "", "ssh config"},
		{"files/SSH/hardening.conf", "", "ssh config"},
		{"home/.ssh/config", "", "ssh config"},
		{"config", "", ""},
		{"schema.PSQL", "", "plpgsql"},
		{"notes", "python", ""},
		{"notes", "", ""},
		{"", "", ""},
		{"a.", "#!", ""},
	} {
		got := language.Of(test.file, []byte(test.line))
		if test.want == "" {
			assert.Empty(t, got, test.file)
			continue
		}
		assert.Contains(t, got, test.want, "%s %q", test.file, test.line)
	}
}

func TestZsh(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"run.zsh", ".ZSHRC", "a.zsh-theme"} {
		assert.Equal(t, []string{"shell"}, language.Of(name, nil), name)
	}
	assert.Equal(t, []string{"shell"}, language.Of("run", []byte("#!/usr/bin/env zsh")))
	assert.Equal(t, []string{"shell", "bourne shell"}, language.Of("run.sh", nil))
}

func TestInside(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file, text string
		want       []string
	}{
		{"a.html", "<p>x</p>\n", nil},
		{"a.html", "<p>x</p>\n<?PHP f();", []string{"php"}},
		{"a.htm", "x < <?= $x ?>", []string{"php"}},
		{"a.svg", "<svg><SCRIPT>f()</SCRIPT>", []string{"javascript"}},
		{"a.html", "<script>f()</script><?php f() ?><?php", []string{"javascript", "php"}},
		{"a.html", "<scrip", nil},
		{"a.md", "<?php f();", nil},
		{"a.go", "x = `<script`", nil},
		{"noname", "<script>", nil},
	} {
		assert.Equal(t, test.want, language.Inside(language.Of(test.file, nil), []byte(test.text)), test)
	}
}

func TestIsText(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"app.py": true, "x.TXT": true, "README.md": true, "a.json": true, "Dockerfile": true, "v.ts": true,
		"logo.png": false, "a.jar": false, "noname": false, "a.js.bak": true, "a.bin.bak": false, "lib.so.1": false, "messages.mo": false, "mesh.STL": false, "a.woff2": false,
	} {
		assert.Equal(t, want, language.IsText(file, nil), file)
	}
	assert.True(t, language.IsText("noname", []byte("#!/bin/sh")))
}

func TestCanonical(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"python": "python", "Python": "python", "golang": "go", "js": "javascript", "C++": "c++", "cpp": "c++",
		"csharp": "c#", "bash": "shell", "Bourne shell": "bourne shell", "HTML+PHP": "html+php",
	} {
		got, ok := language.Canonical(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, got)
	}

	for _, name := range []string{"", "pyton", "python,x", "*", strings.Repeat("p", 200)} {
		_, ok := language.Canonical(name)
		assert.False(t, ok, name)
	}

	for _, name := range language.Names() {
		if strings.Contains(name, ",") { // a name that no rule can give
			continue
		}
		got, ok := language.Canonical(name)
		assert.True(t, ok, name)
		assert.Equal(t, name, got)
	}
}
