package rule_test

import (
	"context"
	"regexp"
	"slices"
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
	return slices.Repeat([]string{s}, n)
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*rule.Rule)
		want   string // fields and the beginnings of descriptions, one a line
	}{
		"fine":            {func(*rule.Rule) {}, ""},
		"without a scope": {func(r *rule.Rule) { r.Scope = "" }, ""},
		"of a repository": {func(r *rule.Rule) { r.Scope, r.Repo = rule.ScopeRepo, "acme/api" }, ""},
		"everything at its bound": {func(r *rule.Rule) {
			r.ID = strings.Repeat("a", 49) + "/" + strings.Repeat("b", 50)
			r.Message = strings.Repeat("é", rule.MaxMessage)
			r.Paths.Include = append(repeat("**/*.go", 99), "a")
			r.Paths.Exclude = append(repeat(strings.Repeat("é", 255), 14), repeat(strings.Repeat("x", 179), 2)...)
			r.Cases = rule.Cases{Match: repeat("print("+strings.Repeat("x", rule.MaxCase-6), 2), NoMatch: repeat("", 50)}
			r.References = repeat("https://example.com/"+strings.Repeat("x", 480), 10)
		}, ""},
		"nothing at all": {func(r *rule.Rule) { *r = rule.Rule{} }, `id: is required
type: is required; known types: regex, structure
pattern: is required
message: is required
severity: is required; one of critical, high, medium, warning, low, info`},
		"many things": {func(r *rule.Rule) { r.ID, r.Pattern, r.Repo = "A", "a*", "x" }, `id: must not have 'A'
pattern: can match the empty string
repo: is allowed with scope "repo" only`},

		"languages": {func(r *rule.Rule) { r.Languages = []string{"Go", "pyton", "", "qqqqqq"} },
			"languages[1]: is no language that is known; did you mean `python`?\nlanguages[2]: is no language\nlanguages[3]: is no language"},
		"places": {func(r *rule.Rule) { r.In = []rule.Place{"code", "comments", "code"} },
			"in[1]: \"comments\" is not a place; use code, comment or string\nin[2]: code is there twice"},
		"too many places": {func(r *rule.Rule) { r.In = make([]rule.Place, 4) }, "in: has 4 entries"},
		"skip": {func(r *rule.Rule) { r.Skip = []string{"test", "tests", "A b"} },
			"skip[1]: \"tests\" is no kind of files; one of generated, minified, vendored, test, documentation, tooling\n" +
				"skip[2]: this is no kind of files; one of generated, minified, vendored, test, documentation, tooling"},
		"too many kinds":     {func(r *rule.Rule) { r.Skip = repeat("test", 7) }, "skip: has 7 entries; at most 6 are allowed"},
		"too many languages": {func(r *rule.Rule) { r.Languages = repeat("go", 51) }, "languages: has 51 entries"},
		"type":               {func(r *rule.Rule) { r.Type = "glob" }, `type: "glob" is not a type of rule; known types: regex, structure`},
		"severity":           {func(r *rule.Rule) { r.Severity = 7 }, "severity: is required; one of critical"},
		"pattern":            {func(r *rule.Rule) { r.Pattern = "a(?!b)" }, "pattern: at byte 2: negative lookahead"},
		"blank message":      {func(r *rule.Rule) { r.Message = " \n" }, "message: is required"},
		"long message": {
			func(r *rule.Rule) { r.Message = strings.Repeat("é", 1001) }, "message: has 1001 characters; at most 1000",
		},
		"message with NUL": {func(r *rule.Rule) { r.Message = "a\x00" }, "message: must be UTF-8 without NUL"},
		"message in bytes": {func(r *rule.Rule) { r.Message = "a\xff" }, "message: must be UTF-8 without NUL"},
		"scope":            {func(r *rule.Rule) { r.Scope = "team" }, `scope: "team" is not a scope; use "org" or "repo"`},
		"no repo":          {func(r *rule.Rule) { r.Scope = rule.ScopeRepo }, "repo: is required"},
		"wrong repo":       {func(r *rule.Rule) { r.Scope, r.Repo = rule.ScopeRepo, "acme" }, "repo: must be `<owner>/<rep"},
		"repo with org":    {func(r *rule.Rule) { r.Repo = "acme/api" }, `repo: is allowed with scope "repo" only`},

		"globs": {func(r *rule.Rule) {
			r.Paths = rule.Paths{Include: []string{"ok", "a["}, Exclude: []string{""}}
		}, "paths.include[1]: is not a valid glob\npaths.exclude[0]: must not be empty"},
		"many globs": {
			func(r *rule.Rule) { r.Paths.Include = repeat("a", 101) }, "paths.include: has 101 entries; at most 100",
		},
		"long globs together": {func(r *rule.Rule) {
			r.Paths = rule.Paths{Include: repeat(strings.Repeat("x", 100), 80), Exclude: repeat(strings.Repeat("x", 97), 2)}
		}, "paths: has globs of 8194 bytes in all; at most 8192"},

		"a case that does not match": {
			func(r *rule.Rule) { r.Cases.Match = []string{"print(", "x"} }, "cases.match[1]: the rule does not match",
		},
		"a case that matches": {
			func(r *rule.Rule) { r.Cases.NoMatch = []string{"a\nprint("} },
			"cases.no_match[0]: the rule matches this text, on line 2",
		},
		"a case on any line": {func(r *rule.Rule) { r.Pattern, r.Cases.Match = "^b$", []string{"a\r\nb\r\n"} }, ""},
		"a case across lines": {
			func(r *rule.Rule) { r.Pattern, r.Cases.Match = `a\nb`, []string{"a\nb"} },
			"cases.match[0]: the rule does not match",
		},
		"a multiline case": {
			func(r *rule.Rule) { r.Pattern, r.Cases.Match, r.Multiline = `a\nb`, []string{"a\nb"}, true }, "",
		},
		"cases ignore paths": {
			func(r *rule.Rule) { r.Paths.Include, r.Cases.Match = []string{"x"}, []string{"print("} }, "",
		},
		"a long case": {
			func(r *rule.Rule) { r.Cases.NoMatch = []string{strings.Repeat("x", rule.MaxCase+1)} },
			"cases.no_match[0]: has 16385 bytes",
		},
		"many cases": {
			func(r *rule.Rule) { r.Cases.Match = repeat("print(", 51) }, "cases.match: has 51 entries; at most 50",
		},
		"long cases together": {func(r *rule.Rule) {
			r.Cases = rule.Cases{Match: repeat("print("+strings.Repeat("x", rule.MaxCase-6), 2), NoMatch: []string{"x"}}
		}, "cases: has texts of 32769 bytes in all; at most 32768"},
		"a case that is not text": {
			func(r *rule.Rule) { r.Cases.NoMatch = []string{"\x00"} }, "cases.no_match[0]: must be UTF-8 without NUL",
		},
		"cases of a broken pattern": {
			func(r *rule.Rule) { r.Pattern, r.Cases.Match = "(", []string{"x"} }, "pattern: at byte 1: missing closing )",
		},

		"references": {func(r *rule.Rule) {
			r.References = []string{"https://a/b", "/b", "ftp://a", "https:///x", "https://a/" + strings.Repeat("x", 500)}
		}, `references[1]: must be an absolute
references[2]: must be an absolute
references[3]: must be an absolute
references[4]: has 510 characters`},
		"many references": {
			func(r *rule.Rule) { r.References = repeat("https://a/b", 11) }, "references: has 11 entries",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := valid()
			tt.change(&r)
			err := rule.Validate(t.Context(), r)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}

			var e *errs.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, errs.InvalidArgument, e.Kind)
			want := strings.Split(tt.want, "\n")
			require.Len(t, e.Fields, len(want), "%v", e.Fields)
			for i, v := range e.Fields {
				assert.True(t, strings.HasPrefix(v.Field+": "+v.Description, want[i]), v)
			}
		})
	}
}

// slowText takes the pattern slow far more than the budget.
const slow = `(?s)a.*z|a`

func slowText() string { return strings.Repeat(strings.Repeat("a", 100)+"\n", 5000) }

func TestTry(t *testing.T) {
	t.Parallel()
	hits, truncated, err := rule.Try(t.Context(), rule.Rule{Pattern: "b"}, nil, "ab\r\nbb\nb", 2)
	require.NoError(t, err)
	assert.True(t, truncated)
	assert.Equal(t, []match.Hit{
		{Line: 1, Column: 2, EndLine: 1, EndColumn: 3}, {Line: 2, Column: 1, EndLine: 2, EndColumn: 2},
	}, hits)

	hits, truncated, err = rule.Try(t.Context(), rule.Rule{Pattern: "b"}, nil, "ab\r\nbb\nb", 3)
	require.NoError(t, err)
	assert.False(t, truncated)
	assert.Len(t, hits, 3)
	for pattern, want := range map[string]string{"": "is required", "(": "missing closing )", "a*": "empty string"} {
		_, _, err := rule.Try(t.Context(), rule.Rule{Pattern: pattern}, nil, "", 1)
		require.ErrorContains(t, err, want)
		assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}

	start := time.Now()
	_, _, err = rule.Try(t.Context(), rule.Rule{Pattern: slow, Multiline: true}, nil, slowText(), 1)
	require.ErrorContains(t, err, "takes too long")
	assert.Less(t, time.Since(start), time.Minute, "it would take hours")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = rule.Try(ctx, rule.Rule{Pattern: "a", Multiline: true}, nil, "a", 1)
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
		"id":        func(r *rule.Rule) { r.ID = "x" },
		"type":      func(r *rule.Rule) { r.Type = "x" },
		"pattern":   func(r *rule.Rule) { r.Pattern = "x" },
		"message":   func(r *rule.Rule) { r.Message = "x" },
		"severity":  func(r *rule.Rule) { r.Severity = rule.High },
		"include":   func(r *rule.Rule) { r.Paths.Include = []string{"x"} },
		"exclude":   func(r *rule.Rule) { r.Paths.Exclude = []string{"x"} },
		"multiline": func(r *rule.Rule) { r.Multiline = true },
		"redact":    func(r *rule.Rule) { r.Redact = true },
		"origin":    func(r *rule.Rule) { r.Origin = rule.OriginCustom },
		"entropy":   func(r *rule.Rule) { r.Conditions.Entropy = &match.Entropy{} },
		"checksum":  func(r *rule.Rule) { r.Conditions.Checksum = "github" },
		"stopwords": func(r *rule.Rule) { r.Conditions.Stopwords = []string{"x"} },
		"allow":     func(r *rule.Rule) { r.Conditions.Allow = []string{"x"} },
		"low":       func(r *rule.Rule) { r.Confidence = rule.ConfidenceLow },
		"silences":  func(r *rule.Rule) { r.Supersedes = []string{"x"} },
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
