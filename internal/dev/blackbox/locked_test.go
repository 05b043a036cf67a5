package blackbox_test

import (
	endian "encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lockedRules is how many rules the organization of TestNothingSwitchesLockedRulesOff has locked.
const lockedRules = 50

// A repository tries every way to switch off the rules that its organization has locked.
func TestNothingSwitchesLockedRulesOff(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,rules:read,rules:write,policy:read,policy:write"))

	// Half of the rules are for one language.
	var rules, locked []any
	var off, overrides, ids, text, quiet strings.Builder
	for i := range lockedRules {
		id := fmt.Sprintf("custom/n%02d", i)
		rule := map[string]any{
			"id": id, "type": "regex", "pattern": fmt.Sprintf(`needle%02d\(`, i), "message": "m", "severity": "medium",
		}
		if i%2 == 1 {
			rule["languages"] = []any{"javascript"}
		}
		rules, locked = append(rules, rule), append(locked, id)
		fmt.Fprintf(&off, "%s, ", id)
		fmt.Fprintf(&overrides, "  %s: {severity: info, exclude: ['**']}\n", id)
		if i < 20 {
			fmt.Fprintf(&ids, ", %s", id)
		}
		fmt.Fprintf(&text, "needle%02d(x);\n", i)
		fmt.Fprintf(&quiet, "needle%02d(x); // prwarden:ignore %s -- it is fine until %s\n", i, id, nextMonth())
	}
	a := c.do(t, "POST", "/v1/rules:batch", map[string]any{"version": 1, "rules": rules})
	require.Equal(t, 200, a.status, a.body)
	a = c.do(t, "PUT", "/v1/policy", map[string]any{
		"fail_on": "medium", "locked": map[string]any{"rules": append(locked, "security/no-eval")},
	})
	require.Equal(t, 200, a.status, a.body)

	all, long := text.String(), strings.Repeat("fine();\n", lockedRules)
	rulesFile := func(text string) files { return files{".prwarden/rules.yml": "version: 1\n" + text} }
	comments := func(begin, end string) []files {
		return []files{{"a.js": strings.ReplaceAll(all, "(x);\n", "(x); "+begin+" prwarden:ignore "+ids.String()[2:]+
			" -- it is fine until "+nextMonth()+" "+end+"\n")}}
	}
	in16 := func(order endian.AppendByteOrder, text string) string {
		var out []byte
		for _, unit := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, unit)
		}
		return string(out)
	}

	for name, tt := range map[string]struct {
		base       files
		changes    []files
		incomplete bool // the rules did not look, and the review says so
	}{
		"nothing":         {nil, []files{{"a.js": all}}, false},
		"disable":         {rulesFile("disable: [" + off.String() + "security/no-eval]"), []files{{"a.js": all}}, false},
		"override":        {rulesFile("override:\n" + overrides.String()), []files{{"a.js": all}}, false},
		"exclude":         {rulesFile("exclude: ['**', '*', '*.js']"), []files{{"a.js": all}}, false},
		"the same id":     {rulesFile("rules:\n- {id: n01, type: regex, pattern: zzzz, message: m, severity: info}"), []files{{"a.js": all}}, false},
		"a broken file":   {rulesFile("exclude: ['**'"), []files{{"a.js": all}}, false},
		"comments":        {nil, []files{{"a.js": quiet.String()}}, false},
		"block comments":  {nil, comments("/*", "*/"), false},
		"markup comments": {nil, comments("<!--", "-->"), false},
		"attributes": {files{".gitattributes": "* -diff -text binary linguist-generated linguist-vendored " +
			"linguist-language=Text working-tree-encoding=UTF-16 filter=x\n"}, []files{{"a.js": all}}, false},
		"ignored":            {files{".gitignore": "*\n", "a/.gitattributes": "* export-ignore\n"}, []files{{"a/a.js": all}}, false},
		"UTF-16 with a mark": {nil, []files{{"a.js": in16(endian.LittleEndian, "\ufeff"+all)}}, false},
		"UTF-16":             {nil, []files{{"a.js": in16(endian.BigEndian, all)}}, false},
		"UTF-8 with a mark":  {nil, []files{{"a.js": "\ufeff" + all}}, false},
		"a false mark":       {nil, []files{{"a.js": "\xff\xfe" + all}}, false},
		"Latin-1":            {nil, []files{{"a.js": "// \xe9\xff\x80\n" + all}}, false},
		"NULs":               {nil, []files{{"a.js": "//\x00\x00\n" + all}}, false},
		"many NULs":          {nil, []files{{"a.js": all + strings.Repeat("\x00", 1000)}}, true},
		"UTF-7":              {nil, []files{{"a.js": "# c\n# coding: utf-7\n" + strings.ReplaceAll(all, "(", "+ACg-")}}, true},
		"CR only":            {nil, []files{{"a.js": strings.ReplaceAll(all, "\n", "\r")}}, false},
		"form feeds":         {nil, []files{{"a.js": strings.ReplaceAll(all, "\n", "\f\v\u2028")}}, false},
		"one long line":      {nil, []files{{"a.js": strings.ReplaceAll(strings.Repeat(" ", 1<<20)+all, "\n", " ")}}, false},
		"a large file":       {nil, []files{{"a.js": strings.Repeat("\n", 2<<20) + all}}, false},
		"too large a file":   {nil, []files{{"a.js": strings.Repeat("\n", 16<<20) + all}}, true},
		"capitals":           {nil, []files{{"A.JS": all}}, false},
		"a minified file":    {nil, []files{{"vendor/node_modules/a.min.js": all}}, false},
		"a test":             {nil, []files{{"tests/__tests__/a.test.js": all}}, false},
		"a modeline":         {nil, []files{{"a.js": "#!/bin/sh\n// -*- mode: text -*- vim: ft=text\n" + all}}, false},
		"a header":           {nil, []files{{"a.js": "// Code generated by x. DO NOT EDIT.\n" + all}}, false},
		"an odd name":        {nil, []files{{"a\xff \t\"'.js": all}}, false},
		"a copy's name":      {nil, []files{{"a.js.bak~": all}}, false},
		"in a page":          {nil, []files{{"a.html": "<p>\n<script>\n" + all}}, false},

		"moved":             {nil, []files{{"a.txt": all}, {"a.txt": remove, "a.js": all}}, false},
		"moved and changed": {nil, []files{{"a.txt": all + long}, {"a.txt": remove, "a.js": long + all}}, false},
		"moved twice": {nil, []files{
			{"a.txt": all}, {"a.txt": remove, "docs/a.md": all}, {"docs/a.md": remove, "a.js": all},
		}, false},
		"moved out of what is excluded": {rulesFile("exclude: ['gen/**']"), []files{
			{"gen/a.js": all}, {"gen/a.js": remove, "a.js": all},
		}, false},
		"a folder moved": {nil, []files{
			{"t/a/x.txt": all, "t/a/y": "y\n"}, {"t/a/x.txt": remove, "t/a/y": remove, "s/x.js": all, "s/y": "y\n"},
		}, false},
		"moved by case":   {nil, []files{{"a.Txt": all}, {"a.Txt": remove, "A.jS": all}}, false},
		"exchanged":       {files{"b.js": long}, []files{{"a.txt": all}, {"a.txt": long, "b.js": all}}, false},
		"a script, later": {nil, []files{{"a": all}, {"a": "#!/usr/bin/env node\n" + all}}, false},
		"a page, later":   {nil, []files{{"a.html": "<p>\n" + all}, {"a.html": "<p>\n<script>\n" + all}}, false},

		"a link":           {nil, []files{{"a.txt": all, "a.js": link("a.txt")}}, false},
		"a link, later":    {nil, []files{{"a.txt": all}, {"a.js": link("a.txt")}}, false},
		"links":            {nil, []files{{"a.txt": all}, {"d/b": link("../a.txt"), "e": link("d"), "a.js": link("e/b")}}, false},
		"a link, changed":  {files{"b": long, "a.js": link("b")}, []files{{"a.txt": all}, {"a.js": link("./a.txt")}}, false},
		"a link to a copy": {nil, []files{{"a.txt.bak": all}, {"a.js~": link("a.txt.bak")}}, false},
		"a link, then a file": {nil, []files{
			{"a.js": link("none")}, {"a.js": all},
		}, false},
		"a file, then a link": {files{"a.js": long}, []files{{"a.txt": all}, {"a.js": link("a.txt")}}, false},
		"a link, moved":       {files{"b": link("a.txt")}, []files{{"a.txt": all}, {"b": remove, "a.js": link("a.txt")}}, false},
		"a link is the text":  {nil, []files{{"a.js": link(strings.ReplaceAll(all, "\n", ""))}}, false},

		"a submodule, then files": {nil, []files{{"s": module}, {"s": remove, "s/a.js": all}}, false},
		"a submodule beside":      {nil, []files{{"s": module, ".gitmodules": "[submodule \"s\"]\npath = .\n", "a.js": all}}, false},
		"a file, then a submodule": {nil, []files{
			{"a.js": all}, {"a.js": module, "b.js": all},
		}, false},
		"a link into a submodule":  {nil, []files{{"s": module, "b.js": link("s/x"), "a.js": all}}, false},
		"a rules file by a link":   {files{"r.yml": "version: 1\nexclude: ['**']\n", ".prwarden/rules.yml": link("../r.yml")}, []files{{"a.js": all}}, false},
		"a linked folder of rules": {files{"r/rules.yml": "version: 1\nexclude: ['**']\n", ".prwarden": link("r")}, []files{{"a.js": all}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := files{"README": "x\n"}
			if tt.base != nil {
				base = tt.base
			}
			repo := "locked/" + strings.NewReplacer(" ", "-", ",", "", "'", "").Replace(strings.ToLower(name))
			r := h.create(t, repo, base)
			// What one of the pull requests shows is not hidden.
			found := map[any]bool{}
			outcomes := map[any]bool{}
			for i, change := range tt.changes {
				m := c.scan(t, repo, r.add(i+1, change))
				verdict, _ := m["verdict"].(map[string]any)
				outcomes[verdict["outcome"]] = true
				for _, f := range list(m["findings"]) {
					if f := f.(map[string]any); f["severity"] == "medium" {
						found[f["rule_id"]] = true
					}
				}
			}
			if tt.incomplete {
				assert.True(t, outcomes["incomplete"])
				return
			}

			assert.True(t, outcomes["fail"], outcomes)
			for _, id := range locked {
				assert.True(t, found[id], "%s must be found", id)
			}
		})
	}
}
