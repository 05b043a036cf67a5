package rule_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

func valid() rule.Rule {
	return rule.Rule{
		ID: "no-print", Type: rule.TypeRegex, Pattern: `print\(`, Message: "Use the logger.", Severity: rule.Low,
		Scope: rule.ScopeOrg,
	}
}

func repeat(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*rule.Rule)
		want   map[string]string // field: part of the description
	}{
		"fine":            {func(*rule.Rule) {}, nil},
		"without a scope": {func(r *rule.Rule) { r.Scope = "" }, nil},
		"of a repository": {func(r *rule.Rule) { r.Scope, r.Repo = rule.ScopeRepo, "acme/api" }, nil},
		"everything at its bound": {func(r *rule.Rule) {
			r.ID = strings.Repeat("a", 49) + "/" + strings.Repeat("b", 50)
			r.Message = strings.Repeat("é", rule.MaxMessage)
			r.Paths = rule.Paths{
				Include: append(repeat("**/*.go", 99), "a"),
				Exclude: append(repeat(strings.Repeat("é", 255), 14), strings.Repeat("x", 179), strings.Repeat("x", 179)),
			}

			r.Cases = rule.Cases{Match: repeat("print("+strings.Repeat("x", rule.MaxCase-6), 2), NoMatch: repeat("", 50)}
			r.References = repeat("https://example.com/"+strings.Repeat("x", 480), 10)
		}, nil},
		"nothing at all": {func(r *rule.Rule) { *r = rule.Rule{} }, map[string]string{
			"id": "is required", "type": "known types: regex", "pattern": "is required", "message": "is required",
			"severity": "one of critical, high, medium, warning, low, info",
		}},
		"type": {func(r *rule.Rule) {
			r.Type = "glob"
		}, map[string]string{"type": `"glob" is not a type of rule; known types: regex`}},
		"severity": {func(r *rule.Rule) {
			r.Severity = 7
		}, map[string]string{"severity": "one of critical"}},
		"pattern": {func(r *rule.Rule) {
			r.Pattern = "a(?!b)"
		}, map[string]string{"pattern": "at byte 2: negative lookahead"}},
		"blank message": {func(r *rule.Rule) { r.Message = " \n" }, map[string]string{"message": "is required"}},
		"long message": {func(r *rule.Rule) {
			r.Message = strings.Repeat("é", 1001)
		}, map[string]string{"message": "has 1001 characters; at most 1000"}},
		"message with NUL":          {func(r *rule.Rule) { r.Message = "a\x00" }, map[string]string{"message": "NUL"}},
		"message that is not UTF-8": {func(r *rule.Rule) { r.Message = "a\xff" }, map[string]string{"message": "UTF-8"}},
		"scope": {func(r *rule.Rule) {
			r.Scope = "team"
		}, map[string]string{"scope": `"team" is not a scope; use "org" or "repo"`}},
		"repo is missing": {func(r *rule.Rule) {
			r.Scope = rule.ScopeRepo
		}, map[string]string{"repo": "is required"}},
		"repo is wrong": {func(r *rule.Rule) {
			r.Scope, r.Repo = rule.ScopeRepo, "acme"
		}, map[string]string{"repo": "<owner>/<repository>"}},
		"repo with scope org": {func(r *rule.Rule) {
			r.Repo = "acme/api"
		}, map[string]string{"repo": `with scope "repo" only`}},
		"globs": {func(r *rule.Rule) {
			r.Paths = rule.Paths{Include: []string{"ok", "a["}, Exclude: []string{""}}
		}, map[string]string{"paths.include[1]": "not a valid glob", "paths.exclude[0]": "must not be empty"}},
		"too many globs": {func(r *rule.Rule) {
			r.Paths.Include = repeat("a", 101)
		}, map[string]string{"paths.include": "has 101 entries; at most 100"}},
		"a case that does not match": {func(r *rule.Rule) {
			r.Cases.Match = []string{"print(", "x"}
		}, map[string]string{"cases.match[1]": "does not match"}},
		"a case that matches": {func(r *rule.Rule) {
			r.Cases.NoMatch = []string{"a\nprint("}
		}, map[string]string{"cases.no_match[0]": "matches this text, on line 2"}},
		"a case on any line": {func(r *rule.Rule) { r.Pattern, r.Cases.Match = "^b$", []string{"a\r\nb\r\n"} }, nil},
		"a case across lines": {func(r *rule.Rule) {
			r.Pattern, r.Cases.Match = `a\nb`, []string{"a\nb"}
		}, map[string]string{"cases.match[0]": "does not match"}},
		"a multiline case": {func(r *rule.Rule) {
			r.Pattern, r.Cases.Match, r.Multiline = `a\nb`, []string{"a\nb"}, true
		}, nil},
		"cases ignore paths": {func(r *rule.Rule) {
			r.Paths.Include, r.Cases.Match = []string{"x"}, []string{"print("}
		}, nil},
		"a long case": {func(r *rule.Rule) {
			r.Cases.NoMatch = []string{strings.Repeat("x", rule.MaxCase+1)}
		}, map[string]string{"cases.no_match[0]": "has 16385 bytes"}},
		"too many cases": {func(r *rule.Rule) {
			r.Cases.Match = repeat("print(", 51)
		}, map[string]string{"cases.match": "has 51 entries; at most 50"}},
		"long cases together": {func(r *rule.Rule) {
			r.Cases = rule.Cases{Match: repeat("print("+strings.Repeat("x", rule.MaxCase-6), 2), NoMatch: []string{"x"}}
		}, map[string]string{"cases": "has texts of 32769 bytes in all; at most 32768"}},
		"long globs together": {func(r *rule.Rule) {
			r.Paths = rule.Paths{Include: repeat(strings.Repeat("x", 100), 80), Exclude: repeat(strings.Repeat("x", 97), 2)}
		}, map[string]string{"paths": "has globs of 8194 bytes in all; at most 8192"}},
		"a case that is not text": {func(r *rule.Rule) {
			r.Cases.NoMatch = []string{"\x00"}
		}, map[string]string{"cases.no_match[0]": "NUL"}},
		"references": {func(r *rule.Rule) {
			r.References = []string{
				"https://a/b", "/b", "ftp://a", "https:///x", "ht tp://a", "https://a/" + strings.Repeat("x", 500),
			}
		}, map[string]string{
			"references[1]": "absolute", "references[2]": "absolute", "references[3]": "absolute",
			"references[4]": "absolute", "references[5]": "has 510 characters",
		}},
		"too many references": {func(r *rule.Rule) {
			r.References = repeat("https://a/b", 11)
		}, map[string]string{"references": "has 11 entries"}},
		"cases of a broken pattern": {func(r *rule.Rule) {
			r.Pattern, r.Cases.Match = "(", []string{"x"}
		}, map[string]string{"pattern": "missing closing )"}},
		"many things in order": {func(r *rule.Rule) {
			r.ID, r.Pattern, r.Repo = "A", "a*", "x"
		}, map[string]string{"id": "'A'", "pattern": "empty string", "repo": "scope"}},
	}

	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := valid()
			tt.change(&r)
			err := rule.Validate(t.Context(), r)
			if tt.want == nil {
				require.NoError(t, err)
				return
			}

			var e *errs.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, errs.InvalidArgument, e.Kind)
			got := map[string]string{}
			for _, v := range e.Fields {
				got[v.Field] = v.Description
			}
			require.Len(t, got, len(tt.want), "%v", e.Fields)
			for field, part := range tt.want {
				assert.Contains(t, got[field], part, field)
			}
		})
	}
}

// slowText takes the pattern slow far more than the budget.
const slow = `(?s)a.*z|a`

func slowText() string { return strings.Repeat(strings.Repeat("a", 100)+"\n", 5000) }

func TestTry(t *testing.T) {
	t.Parallel()
	hits, truncated, err := rule.Try(t.Context(), "b", false, "ab\r\nbb\nb", 2)
	require.NoError(t, err)
	assert.True(t, truncated)
	assert.Equal(
		t, []match.Hit{{Line: 1, Column: 2, EndLine: 1, EndColumn: 3}, {Line: 2, Column: 1, EndLine: 2, EndColumn: 2}},
		hits,
	)
	hits, truncated, err = rule.Try(t.Context(), "b", false, "ab\r\nbb\nb", 3)
	require.NoError(t, err)
	assert.False(t, truncated)
	assert.Len(t, hits, 3)
	for pattern, want := range map[string]string{"": "is required", "(": "missing closing )", "a*": "empty string"} {
		_, _, err := rule.Try(t.Context(), pattern, false, "", 1)
		require.ErrorContains(t, err, want)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}

	start := time.Now()
	_, _, err = rule.Try(t.Context(), slow, true, slowText(), 1)
	require.ErrorContains(t, err, "takes more than 2 seconds")
	assert.Less(t, time.Since(start), time.Minute, "it would take hours")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = rule.Try(ctx, "a", true, "a", 1)
	require.ErrorIs(t, err, context.Canceled)
}

func TestCheckID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"a", "0", "no-print", "custom/no-print", "a.b_c-/9..", strings.Repeat("a", 100), "meta", "a/meta",
	} {
		assert.NoError(t, rule.CheckID(id), id)
	}

	for _, id := range []string{
		"", "A", "/a", "a/", "a//b", "a/b/c", "-a", "a/-b", ".a", "a b", "é", "a\n", "meta/x", strings.Repeat("a", 101),
		"a\x00",
	} {
		assert.Error(t, rule.CheckID(id), id)
	}
}

func FuzzCheckID(f *testing.F) {
	for _, seed := range []string{"a", "a/b", "meta/x", "A", "a/b/c", "", "-", "a.b_c-", "é"} {
		f.Add(seed)
	}
	grammar := regexp.MustCompile(`\A(?:[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*\z`)
	f.Fuzz(func(t *testing.T, id string) {
		want := grammar.MatchString(id) && len(id) <= 100 && !strings.HasPrefix(id, "meta/")
		require.Equal(t, want, rule.CheckID(id) == nil)
	})
}

func TestDigest(t *testing.T) {
	t.Parallel()
	a, b := valid(), valid()
	b.ID = "other"
	base := rule.Digest([]rule.Rule{a, b})
	assert.Regexp(t, `^[0-9a-f]{64}$`, base)
	assert.Equal(t, base, rule.Digest([]rule.Rule{b, a}), "order")
	for name, change := range map[string]func(*rule.Rule){
		"id": func(r *rule.Rule) { r.ID = "x" }, "type": func(r *rule.Rule) { r.Type = "x" },
		"pattern": func(r *rule.Rule) { r.Pattern = "x" }, "message": func(r *rule.Rule) { r.Message = "x" },
		"severity": func(r *rule.Rule) {
			r.Severity = rule.High
		}, "include": func(r *rule.Rule) { r.Paths.Include = []string{"x"} },
		"exclude": func(r *rule.Rule) {
			r.Paths.Exclude = []string{"x"}
		}, "multiline": func(r *rule.Rule) { r.Multiline = true },
		"redact": func(r *rule.Rule) { r.Redact = true }, "origin": func(r *rule.Rule) { r.Origin = rule.OriginCustom },
	} {
		c := a
		change(&c)
		assert.NotEqual(t, base, rule.Digest([]rule.Rule{c, b}), name)
	}

	c := a
	c.ID = "custom/no-print"
	c.Cases.Match, c.References, c.CreatedAt = []string{"x"}, []string{"x"}, time.Now()
	c.Scope, c.Repo, c.Paths.Include = rule.ScopeRepo, "a/b", []string{}
	assert.Equal(t, base, rule.Digest([]rule.Rule{c, b}), "what decides nothing")
	assert.NotEqual(t, base, rule.Digest([]rule.Rule{a, b}, "x"))
	assert.Equal(t, rule.Digest(nil, "x", "y"), rule.Digest(nil, "y", "x"))
	assert.NotEqual(t, rule.Digest(nil, "xy"), rule.Digest(nil, "x", "y"))
}
