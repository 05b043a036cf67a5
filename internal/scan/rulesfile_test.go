package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// both is a rules file that the pull request does not change.
func both(text string) map[scan.Side]map[string]string {
	f := map[string]string{rule.FilePath: text}
	return map[scan.Side]map[string]string{scan.Base: f, scan.Head: f, scan.MergeBase: f}
}

func changed(base, head string) *pull {
	p := &pull{sides: both(base), files: []scan.File{file("a", "one\ntwo"), file(rule.FilePath, head)}}
	p.sides[scan.Head] = map[string]string{rule.FilePath: head}
	return p
}

func TestRulesFile(t *testing.T) {
	t.Parallel()
	const (
		fine   = "version: 1\n"
		broken = "version: 1\nnope: 1\n"
		own    = "version: 1\nrules:\n  - {id: own, type: regex, pattern: two, message: m, severity: low}\n"
	)
	deleted := changed(fine, "")
	deleted.files, deleted.sides[scan.Head] = deleted.files[:1], nil
	behind := changed(own, "") // the base got its rules file after the pull request started
	behind.files, behind.sides[scan.Head], behind.sides[scan.MergeBase] = behind.files[:1], nil, nil
	created := changed("", own)
	created.sides[scan.Base], created.sides[scan.MergeBase] = nil, nil
	tests := map[string]struct {
		pull  *pull
		want  []string // place, severity and a part of the message
		valid bool
	}{
		"unchanged": {&pull{sides: both(own), files: []scan.File{file("a", "one\ntwo")}}, []string{
			"a:1 d/one high",
			"a:2 custom/own low",
		}, true},
		"changed": {changed(fine, own), []string{
			".prwarden/rules.yml:1 meta/rules-file-changed info",
			"a:1 d/one high",
		}, true},
		"switched off by the pull request": {changed(fine, "version: 1\ndisable: [d/one]\nexclude: ['**']\n"), []string{
			".prwarden/rules.yml:1 meta/rules-file-changed info",
			"a:1 d/one high",
		}, true},
		"created": {
			created,
			[]string{".prwarden/rules.yml:1 meta/rules-file-changed info", "a:1 d/one high"},
			true,
		},
		"deleted": {
			deleted,
			[]string{".prwarden/rules.yml:1 meta/rules-file-changed info", "a:1 d/one high"},
			true,
		},
		"newer in the base": {behind, []string{"a:1 d/one high", "a:2 custom/own low"}, true},
		"broken in the base": {
			&pull{sides: both(broken + "disable: [d/one]\n"), files: []scan.File{file("a", "one")}},
			[]string{
				".prwarden/rules.yml:2 meta/rules-file-invalid high",
				"a:1 d/one high",
			},
			false,
		},
		"repaired": {changed(broken, fine), []string{
			".prwarden/rules.yml:1 meta/rules-file-changed info",
			".prwarden/rules.yml:2 meta/rules-file-invalid high",
			"a:1 d/one high",
		}, false},
		"broken by the pull request": {changed(fine, "version: 2\n"), []string{
			".prwarden/rules.yml:1 meta/rules-file-changed info",
			".prwarden/rules.yml:1 meta/rules-file-invalid high",
			"a:1 d/one high",
		}, true},
		"broken before and after": {changed(broken, broken+"# still"), []string{
			".prwarden/rules.yml:1 meta/rules-file-changed info",
			".prwarden/rules.yml:2 meta/rules-file-invalid high",
			".prwarden/rules.yml:2 meta/rules-file-invalid high",
			"a:1 d/one high",
		}, false},
		"unknown id": {
			&pull{sides: both("version: 1\ndisable:\n- d/one\n- d/gone\n- org\n"), files: []scan.File{file("a", "one")}},
			[]string{
				".prwarden/rules.yml:4 meta/rules-file-unknown-id warning",
				".prwarden/rules.yml:5 meta/rules-file-unknown-id warning",
			},
			true,
		},
		"unknown id repaired": {changed("version: 1\ndisable: [d/gone]", "version: 1\n\ndisable: [d/nope]"), []string{
			".prwarden/rules.yml:1 meta/rules-file-changed info",
			".prwarden/rules.yml:3 meta/rules-file-unknown-id warning",
			"a:1 d/one high",
		}, true},
		"taken id": {
			&pull{
				sides: both(
					"version: 1\nrules:\n- {id: d/one, type: regex, pattern: two, message: m, severity: low}\n" +
						"- {id: org, type: regex, pattern: two, message: m, severity: low}\n",
				),
				files: []scan.File{file("a", "one\ntwo")},
			},
			[]string{
				".prwarden/rules.yml:3 meta/rules-file-invalid high",
				"a:1 d/one high",
			},
			false,
		},
		"excluded": {
			&pull{
				sides: both("version: 1\nexclude: ['**']\n"),
				files: []scan.File{file(".prwarden/rules.yml", fine), file("a", "one")},
			},
			[]string{
				".prwarden/rules.yml:1 meta/rules-file-changed info",
			},
			true,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tt.pull,
				regex("d/one", "^one", origin(rule.OriginDefault), severity(rule.High)), regex("org", "nothing"))
			found := []string{}
			prints := map[string]bool{}
			for _, f := range got.Findings {
				found = append(found, fmt.Sprintf("%s:%d %s %s", f.File, f.Line, f.RuleID, f.Severity))
				prints[f.Fingerprint] = true
				assert.Len(t, f.Fingerprint, 32)
			}
			assert.Equal(t, tt.want, found)
			assert.Len(t, prints, len(found), "fingerprints differ")
			assert.Equal(t, tt.valid, got.RulesFileValid)
			sum := 0
			for _, n := range got.Summary {
				sum += n
			}
			assert.Equal(t, len(found), sum)
		})
	}
}

func TestRulesFileMessages(t *testing.T) {
	t.Parallel()
	got := run(t, changed("version: 1\nnope: 1\n", "version: 1\n"))
	require.Len(t, got.Findings, 2)
	assert.Equal(t, "The rules file in the base of this pull request is broken, so nothing in it applies: "+
		`line 2: the file: unknown key "nope"; known keys: disable, exclude, override, rules, version. `+
		"This pull request repairs it.",
		got.Findings[1].Message)
	got = run(t, changed("version: 1", "{"))
	require.Len(t, got.Findings, 2)
	assert.Contains(
		t,
		got.Findings[1].Message,
		"at the head of this pull request is broken, so nothing in it would apply once merged: line 1: not valid YAML",
	)
	got = run(t, &pull{sides: both("version: 1\ndisable: [d/gone]")})
	require.Len(t, got.Findings, 1)
	assert.Equal(
		t,
		"The rules file at the base of this pull request disables d/gone, "+
			"which is not a rule of the default ruleset; correct the id or remove it.",
		got.Findings[0].Message,
	)
}

// What a rules file says is stored without a mask, so nothing in it that may be
// a secret is repeated.
func TestRulesFileMessagesRepeatNoSecrets(t *testing.T) {
	t.Parallel()
	const secret = "ghp_Zx91kQ7vT2"
	for _, content := range []string{
		secret + ": 1", "version: 1\n" + secret + ": 1", "version: " + secret, "version: 1\nrules: [{" + secret + ": x}]",
		"version: 1\nrules: [{id: a, type: " + secret + ", pattern: a, message: m, severity: " + secret + "}]",
		"version: 1\nexclude: *" + secret, "version: &" + secret + " 1", "version: 1\ndisable: [" + secret + "]",
		"version: 1\n? [" + secret + "]\n: 1", "%" + secret + "\n---\nversion: 1", "version: \"\\" + secret,
	} {
		got := run(t, changed("version: 1", content))
		require.Len(t, got.Findings, 2, content)
		assert.NotContains(t, got.Findings[1].Message, secret, content)
	}
}

// A pull request can't bury what else is found under mistakes of a rules file.
func TestRulesFileBuriesNothing(t *testing.T) {
	t.Parallel()
	var ids strings.Builder
	for i := range 500 {
		fmt.Fprintf(&ids, "- a%d\n", i)
	}
	got := run(t, changed("version: 1", "version: 1\ndisable:\n"+ids.String()))
	require.Len(t, got.Findings, 1+20)
	got = run(t, changed("version: 1", "version: 1\ndisable: [a, a]\n"))
	require.Len(t, got.Findings, 2)
	assert.Contains(t, got.Findings[1].Message, "disable[1]: this id is there twice")
	got = run(t, changed("version: 1", "version: 1\ndisable:\n"+strings.Repeat("- a\n", 501)))
	require.Len(t, got.Findings, 2)
	assert.Contains(t, got.Findings[1].Message, "at most 500")
}

func TestRulesFileTooLarge(t *testing.T) {
	t.Parallel()
	data := make([]byte, rule.MaxFileSize+1)
	for i := range data {
		data[i] = '#'
	}
	got := run(t, &pull{sides: both(string(data))})
	require.Len(t, got.Findings, 1)
	assert.Contains(t, got.Findings[0].Message, "at most 65536 are allowed")
	assert.False(t, got.RulesFileValid)
}

// A file that the request brings is applied in place of the base's, whatever
// the pull request has and does.
func TestGivenRulesFile(t *testing.T) {
	t.Parallel()
	files := map[string]string{rule.FilePath: "broken"}
	p := &pull{
		sides: map[scan.Side]map[string]string{scan.Base: files, scan.Head: files, scan.MergeBase: files},
		files: []scan.File{file(rule.FilePath, "broken"), file("a.go", "one two\n"), file("out/b.go", "one\n")},
	}
	given, err := rule.ParseFile(
		t.Context(),
		[]byte(
			"version: 1\ndisable: [a/one, a/none]\nexclude: [out/**]\n"+
				"rules:\n- {id: a/two, type: regex, pattern: two, message: m, severity: low}\n",
		),
	)
	require.NoError(t, err)
	rules := []rule.Rule{
		regex("a/one", "one", origin(rule.OriginDefault)),
		regex("a/three", "e t", origin(rule.OriginDefault)),
	}
	s := scan.NewScanner(p, scan.Options{})
	set, err := s.AddRules(rule.Digest(rules), rules)
	require.NoError(t, err)
	result, err := s.Scan(
		t.Context(),
		scan.Request{Target: scan.Target{Repo: "acme/api", Number: 1}, Rules: set, File: given, MaxFindings: 10},
		func(scan.Progress) {},
	)
	require.NoError(t, err)
	var ids []string
	for _, f := range result.Findings {
		ids = append(ids, f.RuleID)
	}
	assert.Equal(t, []string{"a/three", "a/two"}, ids)
	assert.Equal(t, given.Rules, result.RulesFile)
}
