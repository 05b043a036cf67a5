package blackbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// merge makes a pull request for each change, on top of the one before, and returns the
// number of the last.
func (r *repository) merge(changes []files) (number int) {
	r.t.Helper()
	for i, change := range changes {
		number = r.add(i+1, change)
	}

	return number
}

// add merges the pull request before number, and makes that on top of it.
func (r *repository) add(number int, change files) int {
	r.t.Helper()
	tip := r.sha("refs/heads/main")
	if number > 1 {
		tip = r.sha(fmt.Sprintf("refs/pull/%d/head", number-1))
		r.git("", "update-ref", "refs/heads/main", tip)
	}
	r.commit(fmt.Sprintf("refs/pull/%d/head", number), tip, change)

	return number
}

// Whoever writes a pull request tries to get it past the gate. Either it fails, or the
// output says what was not looked at or set aside.
func TestWaysAroundTheGate(t *testing.T) {
	t.Parallel()
	const lfs = "version https://git-lfs.github.com/spec/v1\n"
	const code = "import subprocess\nsubprocess.run(f\"ls {c}\", shell=True)\n"
	awsKey := "AKIA" + "QWERTYUIOPASDFGH"
	filler := strings.Repeat(`"-----BEGIN RSA `+`PRIVATE KEY-----" '`+strings.Repeat("MIIEow9", 5)+"' ", 2_000)
	rsaKey := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("aB3/", 16)+"\n", 25) +
		"-----END RSA " + "PRIVATE KEY-----\n"
	noise := strings.Repeat("\x80\x91\xa2\xb3\xc4\xd5", 80) + "\n\x00\n"
	ignore := "prwarden:ignore secrets/aws-access-key-id -- it is a test until " + nextMonth()
	rulesFile := func(text string) files { return files{".prwarden/rules.yml": "version: 1\n" + text} }

	tests := map[string]struct {
		base    files
		changes []files // pull requests, of which the last is reviewed and the others were merged
		exit    int
		says    string
	}{
		"fillers": {nil, []files{{
			"a/1.txt": filler, "a/2.txt": filler, "a/3.txt": filler, "a/4.txt": filler, "z.pem": rsaKey,
		}}, 1, "secrets/private-key"},
		"a NUL":                  {nil, []files{{"app.py": "# \x00\n" + code}}, 1, "python-subprocess-shell"},
		"a key in a picture":     {nil, []files{{"a.png": "\x89PNG" + noise + awsKey}}, 1, "aws-access-key-id"},
		"a line of 2 MiB":        {nil, []files{{"a.js": strings.Repeat(" ", 2<<20) + "eval(x)"}}, 1, "no-eval"},
		"UTF-32":                 {nil, []files{{"a.js": "e\x00\x00\x00v\x00\x00\x00"}}, 1, "can't be decoded"},
		"UTF-7":                  {nil, []files{{"a.py": "# coding: utf-7\n+AGU-val(x)\n"}}, 1, "can't be decoded"},
		"an escaped source":      {nil, []files{{"a.py": "#!x\n#coding=raw-unicode-escape\n"}}, 1, "can't be decoded"},
		"Git LFS":                {nil, []files{{"a.py": lfs}}, 1, "can't be decoded"},
		"a picture in Git LFS":   {nil, []files{{"a.png": lfs}}, 0, "binary"},
		"a name in capitals":     {nil, []files{{"APP.PY": code}}, 1, "python-subprocess-shell"},
		"a name with a blank":    {nil, []files{{"app.py ": code}}, 1, "python-subprocess-shell"},
		"a key in documentation": {nil, []files{{"docs/README.md": rsaKey}}, 1, "secrets/private-key"},
		"moved": {nil, []files{{"notes.txt": code}, {"notes.txt": remove, "app.py": code}}, 1,
			"python-subprocess-shell"},
		"moved and changed": {nil, []files{
			{"tests/a.js": "eval(x)\n" + strings.Repeat("a()\n", 30)},
			{"tests/a.js": remove, "a.js": "eval(x)\n" + strings.Repeat("a()\n", 29)},
		}, 1, "no-eval"},
		"another first line": {nil, []files{{"run": "#\n" + code}, {"run": "#!/usr/bin/python3\n" + code}}, 1,
			"python-subprocess-shell"},
		"lines that divide a key, removed": {nil, []files{
			{"k.txt": strings.ReplaceAll(rsaKey, "\n", "\n#\n")}, {"k.txt": rsaKey},
		}, 1, "secrets/private-key"},
		"a link": {files{"notes.txt": code}, []files{{"app.py": link("notes.txt")}}, 1, "python-subprocess-shell"},
		"a link to a link": {files{"d/notes.txt": code, "e": link("d")}, []files{
			{"src/app.py": link("../e/notes.txt")},
		}, 1, "app.py:2:1"},
		"a link to the like": {files{"a.py": code}, []files{{"b.py": link("a.py")}}, 0, "No findings"},
		"named as a copy":    {nil, []files{{"app.py.bak": code}}, 1, "python-subprocess-shell"},
		"PHP in a page":      {nil, []files{{"a.html": "<html>\n<?php eval($_GET['x']); ?>\n"}}, 1, "php-code-from-request"},
		"PHP in a page, later": {files{"a.html": "eval($_GET['x']);\n"}, []files{
			{"a.html": "<?php\neval($_GET['x']);\n"},
		}, 1, "php-code-from-request"},
		"no text, then text": {nil, []files{
			{"a.dat": noise + "postgres://app:hJ7k2Lm9Qx4Zp1Rt@db.corp.net/x\n"},
			{"a.dat": noise + "postgres://app:hJ7k2Lm9Qx4Zp1Rt@db.corp.net/x\n" + strings.Repeat("# fine\n", 900)},
		}, 1, "secrets/"},
		"suppressed secret": {nil, []files{{"a.py": "k = '" + awsKey + "' # " + ignore + "\n"}}, 1, "aws-access-key-id"},
		"suppressed far to the right": {nil, []files{{
			"a.js": "eval(x) //" + strings.Repeat(" ", 900) + "prwarden:ignore security/no-eval -- fine until " + nextMonth(),
		}}, 1, "no-eval"},
		"suppressed": {nil, []files{{
			"a.js": "eval(x) // prwarden:ignore security/no-eval -- fine until " + nextMonth(),
		}}, 0, "a.js:1:1  security/no-eval: fine"},
		"disabled":   {rulesFile("disable: [security/no-eval]"), []files{{"a.js": "eval(x)"}}, 0, "security/no-eval (disable)"},
		"excluded":   {rulesFile("exclude: ['**']"), []files{{"a.js": "eval(x)"}}, 0, "Excluded: 1 file"},
		"overridden": {rulesFile("override: {security/no-eval: {severity: info}}"), []files{{"a.js": "eval(x)"}}, 0, "(override)"},
	}

	s, c, h := setup(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := files{"README": "x\n"}
			if tt.base != nil {
				base = tt.base
			}
			repo := "gate/" + strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(name))
			number := h.create(t, repo, base).merge(tt.changes)
			out, says, status := s.prwarden(t, c, "review", repo, fmt.Sprint(number))
			assert.Equal(t, tt.exit, status, out+says)
			assert.Contains(t, out, tt.says)
			assert.NotContains(t, out, awsKey)
		})
	}
}
