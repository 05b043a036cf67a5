package scan

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/rule"
)

func TestParseDirective(t *testing.T) {
	t.Parallel()
	type parsed struct {
		ids           []string
		reason, until string
	}

	ids := func(list ...string) []string { return list }
	a := func(reason, until string) parsed { return parsed{ids("custom/a"), reason, until} }

	for line, want := range map[string]parsed{
		"// prwarden:ignore security/no-eval -- the text is ours": {ids("security/no-eval"), "the text is ours", ""},
		"x = f() # prwarden:ignore no-print -- it is a command":   {ids("custom/no-print"), "it is a command", ""},
		"-- prwarden:ignore a/b -- SQL":                           {ids("a/b"), "SQL", ""},
		"prwarden:ignore a/b,c , custom/c,\td--x -- several, one of them twice": {
			ids("a/b", "custom/c", "custom/d--x"), "several, one of them twice", "",
		},
		"# prwarden:ignore a -- we wait -- a little -- for v2 until 2026-12-31": a(
			"we wait -- a little -- for v2", "2026-12-31",
		),
		"# prwarden:ignore a -- until 2026-12-31":                       a("", "2026-12-31"),
		"# prwarden:ignore a until 2028-02-29":                          a("", "2028-02-29"),
		"# prwarden:ignore a -- waits UNTIL 2026-12-31 ":                a("waits", "2026-12-31"),
		"# prwarden:ignore a -- keep until v2 is out":                   a("keep until v2 is out", ""),
		"# prwarden:ignore a -- as decided (2026-12-31)":                a("as decided (2026-12-31)", ""),
		"# prwarden:ignore a -- see CVE-2026-12-31":                     a("see CVE-2026-12-31", ""),
		"# prwarden:ignore a -- decided 2026-01-31 until 2026-12-31":    a("decided 2026-01-31", "2026-12-31"),
		"# prwarden:ignore a -- Grüße 👨‍👩‍👧":                            a("Grüße 👨‍👩‍👧", ""),
		"# prwarden:ignore a -- latin \xe9t\xe9":                        a("latin \xe9t\xe9", ""),
		"see `prwarden:ignore` // prwarden:ignore a -- after a mention": a("after a mention", ""),
		"# prwarden:ignore until-2027 -- the name of a rule":            {ids("custom/until-2027"), "the name of a rule", ""},
		"# prwarden:ignore a -- as with `prwarden:ignore`":              a("as with `prwarden:ignore`", ""),
		// Ends of comments.
		"/* prwarden:ignore a -- why */":                                    a("why", ""),
		"/* prwarden:ignore a */ eval(x)":                                   a("", ""),
		"/* prwarden:ignore a -- all of src/*/x.js */":                      a("all of src/", ""),
		"// prwarden:ignore a -- all of src/*/x.js":                         a("all of src/*/x.js", ""),
		" * prwarden:ignore a -- why */":                                    a("why", ""),
		"<!-- prwarden:ignore a -- why until 2026-12-31 --> <p>":            a("why", "2026-12-31"),
		"{/* prwarden:ignore a -- why */}":                                  a("why", ""),
		"{{!-- prwarden:ignore a -- why --}}":                               a("why", ""),
		"<%-- prwarden:ignore a -- why --%>":                                a("why", ""),
		"--[[ prwarden:ignore a -- why ]]":                                  a("why", ""),
		`"""prwarden:ignore a -- why"""`:                                    a("why", ""),
		`x = "prwarden:ignore a -- why", y`:                                 a("why", ""),
		`prwarden:ignore a -- why",`:                                        a("why", ""),
		`log('prwarden:ignore a -- why');`:                                  a("why", ""),
		`# prwarden:ignore a -- it says "no", and 'yes' (see #5)`:           a(`it says "no", and 'yes' (see #5)`, ""),
		`if f() { // don't: prwarden:ignore a -- it isn't used (f[x]{y})`:   a(`it isn't used (f[x]{y})`, ""),
		`x // "a quote" and 'b': prwarden:ignore a -- "quoted"`:             a(`"quoted"`, ""),
		"# prwarden:ignore a -- why" + strings.Repeat(")", 8):               a("why", ""),
		"# prwarden:ignore " + strings.Repeat("a, ", 100) + "a -- one rule": a("one rule", ""),
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			d, ok := parseDirective([]byte(line))
			require.True(t, ok)
			assert.Empty(t, d.mistake)
			assert.Equal(t, want.ids, d.ids)
			assert.Equal(t, want.reason, line[d.reasonStart:d.reasonEnd])
			assert.Equal(t, want.until, d.until)
			assert.True(t, strings.HasPrefix(line[d.start:d.end], marker))
		})
	}
}

func TestDirectiveMistakes(t *testing.T) {
	t.Parallel()
	// Lines without the marker stand for what follows it.
	for want, lines := range map[string][]string{
		"invisible": {
			" a -- \u3164", " a -- \u115f", " a -- ok until \u200b2020-01-01", " a -- ok un\u200btil 2020-01-01",
			" a -- \u200b", "\u200ba",
		},
		"behind `until` there must be a day as YYYY-MM-DD, and nothing behind the day": {
			" a -- ok until: 2020-01-01", " a -- ok until=2020-01-01", " a -- ok until '2020-01-01'",
			" a -- ok until (2020-01-01)", " a -- ok until Jan 31, 2020", " a -- ok until 1 January 2020",
			" a -- ok until the 2020-01-01", " a -- ok until 01.02.2020 maybe", " a -- ok until 2020/01/01 or so",
			" a -- ok until\u00a02020-01-01", " a -- ok until\u20032020-01-01",
			" a -- ok until 2020\u201101\u201101", "/* prwarden:ignore a -- ok */ // until 2020-01-01",
			" all -- why -- until 2026-12-31, or so", " a -- why until 2026-12-31 (see #5)",
			" a -- until 2026-12-31 until 2099-12-31", " a -- why until 2026-02-29", " a -- why until 2026-2-1",
			" a -- why until 31.12.2026", " a -- why until 2027", " a -- why until 2026-12-31.",
		},
		"a second one on the line": {
			"/* prwarden:ignore a */ x() // prwarden:ignore b -- why",
			"// prwarden:ignore a -- why prwarden:ignore b -- why", "// prwarden:ignore a /* prwarden:ignore b",
		},
		"names no rule":                                {"", " -- why", "/* prwarden:ignore */", " , a"},
		"a comma without an id":                        {" a, -- why", " a,,b"},
		"an id must not have '*' there":                {" * -- all of them"},
		"an id must not have 'N' there":                {" No-Print"},
		"an id has more than one slash":                {" a/b/c"},
		"an id has an empty part":                      {" /b"},
		"an id has 101 bytes; at most 100 are allowed": {" " + strings.Repeat("a", 101)},
		"behind the ids there may be only ` -- ` and a reason; ids are separated by commas": {
			" a b", " a because it is fine", " a\u00a0-- why", " a - why", " a — why", " a --why",
		},
		"no reason behind `--`":  {" a --", " a -- \t"},
		"the reason has no word": {" a -- ..."},
		"at the end of a reason": {
			" a -- why \u03c5ntil 2027-01-01", " a -- why \u057dnt\u0456\u04cf 2027-01-01",
			" a -- why \U0001d69e\U0001d697\U0001d69d\U0001d692\U0001d695 2027-01-01",
			" a -- why unt\u0332il 2027-01-01", " a -- why unti1 2027-01-01", " a -- why unitl 2027-01-01",
			" a -- nicht vor 2027-01-01", " a -- bis 2027-01-01.", " a -- bis:2027-01-01",
			"/* prwarden:ignore a -- bis\u00a02027-1-1 */ x", " a -- bis 2027\u201001\u201001", " a -- 2027-01-01",
		},
		"only a space or a tab may follow": {": a", "(a)", "=a", "-next-line a", "\u00a0a"},
		"an id must not have 'а' there":    {" а -- a Cyrillic letter"},
		"change how the text is shown": {
			" a -- why \u202e tuo", " a -- why \u2066 x", " a -- a\u2028b", " a -- why\x1b[2K", " a -- why\rx = 1",
			" a -- why\x00",
		},
		"more than 1000 bytes": {" " + strings.Repeat("a, ", 330) + "abc"},
		"more than 20 rules": {
			" a1,a2,a3,a4,a5,a6,a7,a8,a9,a10,a11,a12,a13,a14,a15,a16,a17,a18,a19,a20,a21",
		},
	} {
		for _, line := range lines {
			if !strings.Contains(line, marker) {
				line = "// " + marker + line
			}
			d, ok := parseDirective([]byte(line))
			require.True(t, ok, line)
			assert.Contains(t, d.mistake, want, line)
		}
	}
}

// What is beside a comment must not keep a reader from seeing it.
func TestHiddenByWhatIsBeside(t *testing.T) {
	t.Parallel()
	const own = "prwarden:ignore a -- ok"

	for name, tt := range map[string]struct {
		before, behind string
		seen           bool
	}{
		"reversed":                       {before: "eval(x) /* \u202e ", behind: " */"},
		"concealed":                      {before: "// \x1b[8m "},
		"erased from behind":             {before: "/* ", behind: " */ x() // \x1b[2K"},
		"reordered from behind":          {before: "/* ", behind: " */ \u202e x()"},
		"on a line of its own, for some": {before: "x()\u2028// "},
		"a BOM that begins the line":     {before: "\ufeff", seen: true},
		"a BOM that begins the file":     {before: "\ufeffx() // ", seen: true},
		"tabs":                           {before: "\tx()\t/*\t", behind: "\t*/\ty()\t", seen: true},
		"a joiner in a word before it":   {before: "x('می\u200cخواهم') // ", seen: true},
		"an emoji before it":             {before: "x('❤\ufe0f') // 👩\u200d👧 ", seen: true},
		"a soft hyphen in a text before": {
			before: "<p>non\u00adsense</p> <!-- ", behind: " --> <p>non\u00adsense</p>", seen: true,
		},
		"letters from right to left":  {before: "x('שלום') /* ", behind: " */ y('שלום')", seen: true},
		"what is not UTF-8":           {before: "x('\x9b8m\xe9') /* ", behind: " */ y('\xe9')", seen: true},
		"other blanks":                {before: "x() //\u00a0\u3000 ", seen: true},
		"escapes of them in the code": {before: `x("\x1b[8m\r\b\u202e") // `, seen: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, ok := parseDirective([]byte(tt.before + own + tt.behind))
			require.True(t, ok)
			if tt.seen {
				assert.Empty(t, d.mistake)
				assert.Equal(t, []string{"custom/a"}, d.ids)
				return
			}

			assert.Contains(t, d.mistake, "which could hide it")
		})
	}
}

// A text may speak of the marker, and a name may have it in it.
func TestMentions(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "prwarden: ignore a", "prwarden:ignored a", "prwarden:ignores",
		"x\u200bprwarden:ignore a", "// é\u200dprwarden:ignore a", "\ufeff\ufeffprwarden:ignore a", "xprwarden:ignore a",
		"my-prwarden:ignore a", "éprwarden:ignore a",
		"_prwarden:ignore a", "`prwarden:ignore`", "a (\"prwarden:ignore\") b",
		"Use prwarden:ignore, or don't.", "Use prwarden:ignore.",
		"PRWARDEN:IGNORE a", "prwarden:іgnore a", "prwarden:ignore_a", "prwarden:ignore1",
	} {
		_, ok := parseDirective([]byte(line))
		assert.False(t, ok, line)
	}
}

func TestAlone(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"  // prwarden:ignore a -- why": true, "{/* prwarden:ignore a -- why */}": true, "} // prwarden:ignore a": true,
		"eval(x) // prwarden:ignore a": false, "/* prwarden:ignore a */ eval(x)": false,
		"// so: prwarden:ignore a": false, "rem prwarden:ignore a": false,
	} {
		d, ok := parseDirective([]byte(line))
		require.True(t, ok)
		assert.Equal(t, want, d.alone, line)
	}
}

func TestWithoutDirective(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"eval(x);":                        "eval(x);",
		"eval(x); // prwarden:ignore a/b": "eval(x);",
		"eval(x); // prwarden:ignore a/b -- why until 2027-01-31": "eval(x);",
		"eval(x); /* prwarden:ignore a/b */":                      "eval(x);",
		"eval(x, /* prwarden:ignore a/b -- why */ y)":             "eval(x,y)",
		"eval(x) # prwarden:ignore a/b":                           "eval(x)",
		"eval(x) ## prwarden:ignore a/b":                          "eval(x)",
		"(eval x) ;; prwarden:ignore a/b":                         "(eval x)",
		"eval(x); /// prwarden:ignore a/b":                        "eval(x);",
		"i-- -- prwarden:ignore a/b":                              "i--",
		"<p> <!-- prwarden:ignore a/b -->":                        "<p>",
		"eval(x); // prwarden:ignore":                             "eval(x); // prwarden:ignore", // it accepts nothing
		"a('prwarden:ignore ' + eval(y))":                         "a('prwarden:ignore ' + eval(y))",
		"// prwarden:ignore a/b -- why":                           "// prwarden:ignore a/b -- why", // nothing beside it
		"say(`prwarden:ignored`)":                                 "say(`prwarden:ignored`)",
	} {
		assert.Equal(t, squeezed([]byte(want)), squeezed(withoutDirective([]byte(line))), line)
	}
}

// squeezed is a text as fingerprints see it.
func squeezed(text []byte) string {
	return string(bytes.Join(bytes.FieldsFunc(text, unicode.IsSpace), nil))
}

// FuzzDirective looks for a comment that accepts something and is not what a reader
// sees.
func FuzzDirective(f *testing.F) {
	for _, line := range []string{
		"x // prwarden:ignore a/b, c -- why not until 2026-12-31", "<!-- prwarden:ignore a --> x",
		`"prwarden:ignore a -- 'x' (y)",`,
		"{{!-- prwarden:ignore a -- b --}} prwarden:ignore", "/* prwarden:ignore: a */", "prwarden:ignore a until 2026-1-1",
		"# prwarden:ignore a -- bis 2026-12-31", "x /* \u202e prwarden:ignore a */ \x1b[2K",
		"\ufeffprwarden:ignore a", "x\u200bprwarden:ignore a",
	} {
		f.Add([]byte(line))
	}

	f.Fuzz(func(t *testing.T, line []byte) {
		before := bytes.Clone(line)
		d, ok := parseDirective(line)
		require.Equal(t, before, line)
		if !ok {
			require.Equal(t, directive{}, d)
			return
		}

		require.True(t, bytes.HasPrefix(line[d.start:], []byte(marker)))
		require.LessOrEqual(t, d.start+len(marker), d.end)
		require.LessOrEqual(t, d.end, len(line))
		if d.mistake != "" {
			require.True(t, utf8.ValidString(d.mistake))
			require.Less(t, len(d.mistake), 300)
			return
		}

		require.NotEmpty(t, d.ids)
		require.LessOrEqual(t, len(d.ids), maxIDs)
		own := line[d.start:d.end]

		for _, id := range d.ids {
			if !bytes.Contains(own, []byte(id)) {
				id = strings.TrimPrefix(id, "custom/")
			}

			require.NoError(t, rule.CheckID(id))
			require.True(t, bytes.Contains(own, []byte(id)))
		}

		require.False(t, bytes.ContainsFunc(line, rule.IsDisruptive))
		require.LessOrEqual(t, d.reasonStart, d.reasonEnd)
		if reason := line[d.reasonStart:d.reasonEnd]; len(reason) > 0 {
			require.Greater(t, d.reasonStart, d.start)
			require.LessOrEqual(t, d.reasonEnd, d.end)
			require.Equal(t, bytes.Trim(reason, " \t"), reason)
		}

		if d.until != "" {
			_, err := time.Parse(time.DateOnly, d.until)
			require.NoError(t, err)
			require.True(t, bytes.HasSuffix(own, []byte(d.until)))
		} else {
			require.NotRegexp(t, `[ \t][0-9]{4}-[0-9]{2}-[0-9]{2}$`, string(line[d.reasonStart:d.reasonEnd]))
		}
		// The directive alone says the same.
		again, ok := parseDirective(own)
		require.True(t, ok)
		require.Equal(t, d.ids, again.ids)
		require.Equal(t, d.until, again.until)
	})
}
