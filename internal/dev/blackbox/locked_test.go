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

	all := text.String()
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := files{"README": "x\n"}
			if tt.base != nil {
				base = tt.base
			}
			repo := "locked/" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
			number := h.create(t, repo, base).merge(tt.changes)
			m := c.scan(t, repo, number)
			verdict := m["verdict"].(map[string]any)
			if tt.incomplete {
				assert.Equal(t, "incomplete", verdict["outcome"])
				return
			}

			assert.Equal(t, "fail", verdict["outcome"])
			found := map[any]bool{}
			for _, f := range list(m["findings"]) {
				if f := f.(map[string]any); f["severity"] == "medium" {
					found[f["rule_id"]] = true
				}
			}
			for _, id := range locked {
				assert.True(t, found[id], "%s must be found", id)
			}
		})
	}
}
