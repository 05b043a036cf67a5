package scan_test

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
	"github.com/prwarden/prwarden/internal/scan"
)

// What the tests hide, none of it as it is, so that nobody takes it for a leak.
var (
	shellCode = "import subprocess\nsubprocess.run(f\"ls {path}\", shell=True)\n"
	awsKey    = "AK" + "IAZ5QWERTYUIOPLKJH"
	rsaKey    = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + lines64(random(1200)) + "-----END RSA " + "PRIVATE KEY-----\n"
)

// random is bytes that are the same each time, and look like none.
func random(n int) []byte {
	all, state := make([]byte, n), uint32(1)
	for i := range all {
		state = state*1664525 + 1013904223
		all[i] = byte(state >> 24)
	}

	return all
}

// lines64 is base64 in lines of 64 characters.
func lines64(data []byte) string {
	var b strings.Builder
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(data)), 64) {
		b.Write(append(line, '\n'))
	}

	return b.String()
}

func inUTF16(order binary.AppendByteOrder, mark bool, text string) string {
	var all []byte
	if mark {
		all = order.AppendUint16(all, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		all = order.AppendUint16(all, unit)
	}

	return string(all)
}

// reviewed is what a scan with the default ruleset finds in named files, each in a
// folder of its own: ids of rules, and reasons of skips.
func reviewed(t *testing.T, files map[string]scan.File) map[string][]string {
	t.Helper()
	rules, err := defaults.Load()
	require.NoError(t, err)
	p, names := &pull{}, map[string]string{} // by folder
	for name, f := range files {
		folder := strings.ReplaceAll(name, "/", " ")
		names[folder] = name
		f.Path = folder + "/" + f.Path
		p.files = append(p.files, f)
	}
	got := run(t, p, rules...)

	found := map[string][]string{}
	add := func(path, what string) {
		folder, _, _ := strings.Cut(path, "/")
		found[names[folder]] = append(found[names[folder]], what)
	}
	for _, f := range slices.Concat(got.Findings, got.Observed) {
		add(f.File, f.RuleID)
	}
	for _, s := range got.Skips {
		add(s.File, s.Reason)
	}

	return found
}

// F3: what can't be read as text is looked at, or named as not looked at.
func TestNothingHidesInWhatIsNoText(t *testing.T) {
	t.Parallel()
	const shell, aws = "security/python-subprocess-shell", "secrets/aws-access-key-id"
	little, big := binary.LittleEndian, binary.BigEndian
	noise := string(random(4000))
	files, want := map[string]scan.File{}, map[string]string{}
	for name, tt := range map[string]struct {
		file scan.File
		want string // that is among what is found
	}{
		"NUL in the first line":         {file("app.py", "# \x00\n"+shellCode), shell},
		"NUL beside a key":              {file("conf", "\x00\nkey = "+awsKey+"\n"), aws},
		"NUL behind 8,000 bytes":        {file("app.py", strings.Repeat("#\n", 5000)+"\x00\n"+shellCode), shell},
		"too large":                     {scan.File{Path: "app.py", Size: 17 << 20}, finding.SkipFileTooLarge},
		"over 1 MiB":                    {file("app.py", strings.Repeat("#\n", 1<<20)+shellCode), shell},
		"UTF-16, little end, mark":      {file("app.py", inUTF16(little, true, shellCode)), shell},
		"UTF-16, big end, mark":         {file("app.py", inUTF16(big, true, shellCode)), shell},
		"UTF-16, little end":            {file("app.py", inUTF16(little, false, shellCode)), shell},
		"UTF-16, big end":               {file("app.py", inUTF16(big, false, shellCode)), shell},
		"UTF-16, half a character":      {file("app.py", inUTF16(little, true, shellCode)+"x"), shell},
		"UTF-16, half a pair":           {file("app.py", inUTF16(big, true, shellCode)+"\xd8\x00\x00a"), shell},
		"UTF-16, a key":                 {file("conf", inUTF16(little, true, "key = "+awsKey+"\n")), aws},
		"UTF-16, a private key":         {file("conf", inUTF16(big, false, rsaKey)), "secrets/private-key"},
		"a mark of UTF-16 before ASCII": {file("app.py", "\xff\xfe"+shellCode), shell},
		"the same with a NUL":           {file("app.py", "\xff\xfe\x00"+shellCode), shell},
		"ASCII among UTF-16":            {file("app.py", inUTF16(little, true, "# noise\n")+shellCode), shell},
		"a key among UTF-16":            {file("x.bin", inUTF16(little, true, "noise\n")+awsKey+"\n"), aws},
		"UTF-16 among what looks as ASCII": {
			file("app.py", inUTF16(little, true, "# "+strings.Repeat("\u4141", 2000)+"\n"+shellCode)), shell,
		},
		"UTF-32, mark, among what looks as ASCII": {
			file("app.py", "\xff\xfe\x00\x00"+strings.Repeat("A", 4000)+inUTF16(little, false, shellCode)), finding.SkipUndecodable,
		},
		"UTF-32":                 {file("app.py", strings.ReplaceAll(inUTF16(little, false, shellCode), "\x00", "\x00\x00\x00")), finding.SkipUndecodable},
		"UTF-32 of no name":      {file("app", strings.ReplaceAll(inUTF16(little, false, shellCode), "\x00", "\x00\x00\x00")), finding.SkipUndecodable},
		"NULs all over code":     {file("app.py", strings.ReplaceAll(shellCode, "e", "\x00\x00e\x00\x00")), finding.SkipUndecodable},
		"noise in code":          {file("app.PY", noise+"\n"+shellCode), finding.SkipUndecodable},
		"noise behind a shebang": {file("deploy", "#!/usr/bin/php\n"+noise), finding.SkipUndecodable},
		"a key in noise":         {file("logo.png", noise+"\x00"+awsKey+"\x00"+noise), aws},
		"a private key in noise": {file("logo.png", noise+"\n"+rsaKey+noise), "secrets/private-key"},
		"noise":                  {file("logo.png", noise), finding.SkipBinary},
		"a submodule":            {scan.File{Path: "lib", Submodule: true}, finding.SkipSubmodule},
	} {
		files[name], want[name] = tt.file, tt.want
	}
	found := reviewed(t, files)
	for name := range files {
		assert.Contains(t, found[name], want[name], name)
	}
}

// What is no text trips no other rules than those with a fixed prefix.
func TestNoiseIsQuiet(t *testing.T) {
	t.Parallel()
	found := reviewed(t, map[string]scan.File{"font": file("font.woff2", string(random(2<<20)))})
	assert.Equal(t, map[string][]string{"font": {finding.SkipBinary}}, found)
}

// Places in a text in UTF-16 are those in the same text in UTF-8; columns in UTF-16
// are exact.
func TestPlacesInUTF16(t *testing.T) {
	t.Parallel()
	const text = "one\r\n\U0001f600é todo\nthree todo\n"
	rules := []rule.Rule{regex("todo", "todo"), regex("key", "three", redact)}
	want := run(t, &pull{files: []scan.File{file("a.txt", text)}}, rules...).Findings
	require.Len(t, want, 3)
	assert.Equal(t, []int{8, 5}, []int{want[0].Column, want[0].UTF16Column})

	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, mark := range []bool{true, false} {
			got := run(t, &pull{files: []scan.File{file("a.txt", inUTF16(order, mark, text))}}, rules...)
			assert.Equal(t, want, got.Findings)
			assert.Empty(t, got.Skips)
		}
	}

	// git's lines are none of UTF-16, so all lines of a changed file count as added.
	changed := file("a.txt", inUTF16(binary.LittleEndian, true, text))
	changed.Added = []scan.LineRange{{First: 1, Last: 1}}
	assert.Equal(t, want, run(t, &pull{files: []scan.File{changed}}, rules...).Findings)
}

// F11: names don't decide.
func TestNamesDontDecide(t *testing.T) {
	t.Parallel()
	const shell, key = "security/python-subprocess-shell", "secrets/private-key"
	const inTest = key + "-in-test"
	paths := map[string]string{
		"app.PY": shell, "app.pyw": shell, "APP.Py": shell, "bin/deploy": shell,
		"docs/prod.pem": key, "src.test.pem": key, "README.md": key, "tests/fixtures/tls/server.key": inTest, "key.PEM": key,
	}
	files := map[string]scan.File{}
	for path, want := range paths {
		content := "#!/usr/bin/env python3\n" + shellCode
		if want != shell {
			content = rsaKey
		}
		files[path] = file(path, content)
	}
	found := reviewed(t, files)
	for path, want := range paths {
		assert.Contains(t, found[path], want, path)
	}
}

// A whole private key is found wherever it is, of every kind.
func TestKeysAnywhere(t *testing.T) {
	t.Parallel()
	rules, err := defaults.Load()
	require.NoError(t, err)
	cases, files := map[string]string{}, map[string]scan.File{}
	for _, r := range rules {
		cases[r.FullID()] = r.Cases.Match[0]
	}
	for _, id := range []string{
		"secrets/private-key", "secrets/putty-private-key", "secrets/pgp-private-key", "secrets/jwk-private",
		"secrets/age-secret-key", "secrets/wireguard-private-key", "secrets/kubeconfig-client-key",
	} {
		require.Contains(t, cases, id)
		for _, path := range []string{"README.md", "docs/setup.rst", "tests/fixtures/key", "src/key_test.go"} {
			files[strings.ReplaceAll(id, "/", " ")+" "+path] = file(path, cases[id]+"\n")
		}
	}

	inTest := map[string]bool{"secrets/private-key": true, "secrets/pgp-private-key": true, "secrets/jwk-private": true}
	found := reviewed(t, files)
	for name := range files {
		id := strings.Join(strings.SplitN(name, " ", 3)[:2], "/")
		if inTest[id] && strings.Contains(name, "test") {
			id = "secrets/private-key-in-test" // which says that it is less sure
		}
		assert.Equal(t, []string{id}, found[name], name)
	}
}

// A default rule that looks at a file by its name looks at it in any case, and at a
// script of the same language without an ending.
func TestNamesOfDefaultRules(t *testing.T) {
	t.Parallel()
	shebangs := map[string]string{
		".sh": "#!/bin/sh", ".bash": "#!/usr/bin/env bash", ".zsh": "#!/bin/zsh", ".ksh": "#!/bin/ksh",
		".py": "#!/usr/bin/python3", ".rb": "#!/usr/bin/env ruby", ".pl": "#!/usr/bin/perl", ".php": "#!/usr/bin/php",
		".js": "#!/usr/bin/env node", ".ts": "#!/usr/bin/env deno", ".lua": "#!/usr/bin/lua", ".r": "#!/usr/bin/Rscript",
		".groovy": "#!/usr/bin/env groovy", ".mk": "#!/usr/bin/make -f",
	}
	sample := strings.NewReplacer("**/", "", "/**", "/x", "{rb,rake,ru,gemspec}", "rb", "{spec,test}", "spec", "*", "x")
	rules, err := defaults.Load()
	require.NoError(t, err)

	files := map[string]scan.File{}
	like := map[string][]string{} // names by another under which the rules must find the same
	add := func(r rule.Rule, path, firstLine string) string {
		name := strings.ReplaceAll(r.ID, "/", " ") + " " + firstLine + path
		files[name] = file(path, firstLine+"\n"+r.Cases.Match[0]+"\n")
		return name
	}
	for _, r := range rules {
		for _, glob := range r.Paths.Include {
			path := sample.Replace(glob)
			as := add(r, path, "")
			like[as] = append(like[as], add(r, strings.ToUpper(path), ""))
		}
		for ending, shebang := range shebangs {
			as := add(r, "run"+ending, "")
			like[as] = append(like[as], add(r, "run"+strings.ToUpper(ending), ""), add(r, "run", shebang))
		}
	}

	found, tried := reviewed(t, files), 0
	for as, others := range like {
		id := strings.Join(strings.SplitN(as, " ", 3)[:2], "/")
		if !slices.Contains(found[as], id) {
			continue
		}
		for _, name := range others {
			tried++
			assert.Contains(t, found[name], id, name)
		}
	}
	assert.Greater(t, tried, 1000)
}

// F5: a file that comes to where rules look is looked at as a whole by these rules.
func TestMovedFiles(t *testing.T) {
	t.Parallel()
	inDocs := func(r *rule.Rule) { r.Paths.Exclude = []string{"docs/**"} }
	inSource := func(r *rule.Rule) { r.Paths.Include = []string{"src/**"} }
	rules := []rule.Rule{
		regex("anywhere", "todo"), regex("not-docs", "todo", inDocs), regex("python", "todo", languages("python")),
		regex("src", "todo", inSource), regex("whole", `to(?s:.)*do`, multiline, inSource),
		regex("key", awsKey, redact), regex("quiet", "todo", origin(rule.OriginDefault)),
	}
	const rulesFile = "version: 1\nexclude: ['vendor/**']\noverride: {quiet: {exclude: ['gen/**']}}\n"
	noise := string(random(300))
	for name, tt := range map[string]struct {
		path, content string
		added         []scan.LineRange
		before        scan.Before
		want          []string
	}{
		"out of docs":             {"a.txt", "todo\n", nil, scan.Before{Path: "docs/a.txt"}, []string{"1 custom/not-docs"}},
		"into docs":               {"docs/a.txt", "todo\n", nil, scan.Before{Path: "a.txt"}, nil},
		"a text becomes code":     {"app.py", "todo\n", nil, scan.Before{Path: "notes.txt"}, []string{"1 custom/python"}},
		"code stays code":         {"b.py", "todo\n", nil, scan.Before{Path: "a.py"}, nil},
		"case of the ending":      {"a.PY", "todo\n", nil, scan.Before{Path: "a.py"}, nil},
		"case of the folder":      {"src/a", "todo\n", nil, scan.Before{Path: "SRC/a"}, nil},
		"docs to src":             {"src/a.py", "todo\n", nil, scan.Before{Path: "docs/a.py"}, []string{"1 custom/not-docs", "1 custom/src", "1 custom/whole"}},
		"out of what is excluded": {"a.txt", "todo\n", nil, scan.Before{Path: "vendor/a.txt"}, []string{"1 custom/anywhere", "1 custom/not-docs", "1 custom/quiet"}},
		"out of an override":      {"a.txt", "todo\n", nil, scan.Before{Path: "gen/a.txt"}, []string{"1 custom/quiet"}},
		"moved with an edit": {
			"src/a", "todo\ntodo\n", []scan.LineRange{{First: 2, Last: 2}}, scan.Before{Path: "a"},
			[]string{"1 custom/src", "1 custom/whole", "2 custom/anywhere", "2 custom/not-docs", "2 custom/quiet", "2 custom/src"},
		},
		"a new first line": {
			"run", "#!/usr/bin/python\ntodo\n", []scan.LineRange{{First: 1, Last: 1}},
			scan.Before{Path: "run", FirstLine: []byte("todo\n")}, []string{"2 custom/python"},
		},
		"another first line": {
			"run", "#!/usr/bin/python\ntodo\n", []scan.LineRange{{First: 1, Last: 1}},
			scan.Before{Path: "run", FirstLine: []byte("#!/usr/bin/python3 -u\n")}, nil,
		},
		"no text any more for once": {
			"run", "x\ntodo\n", []scan.LineRange{{First: 1, Last: 1}}, scan.Before{Path: "run", Binary: true},
			[]string{"2 custom/anywhere", "2 custom/not-docs", "2 custom/quiet"},
		},
		"noise becomes code":  {"run.py", noise, nil, scan.Before{Path: "run.bin"}, []string{finding.SkipUndecodable}},
		"noise stays noise":   {"b.bin", noise, nil, scan.Before{Path: "a.bin"}, nil},
		"UTF-16 becomes code": {"a.py", inUTF16(binary.LittleEndian, true, "todo\n"), nil, scan.Before{Path: "a.txt"}, []string{"1 custom/python"}},
		"a comment":           {"src/a", "todo # prwarden:ignore src, whole -- fine\n", nil, scan.Before{Path: "a"}, nil},
	} {
		p := &pull{files: []scan.File{{Path: tt.path, Content: []byte(tt.content), Added: tt.added, Before: &tt.before}}}
		p.sides = both(rulesFile)
		got := run(t, p, rules...)
		var list []string
		for _, place := range places(got) {
			if id, ok := strings.CutPrefix(place, tt.path+":"); ok {
				list = append(list, id)
			}
		}
		for _, s := range got.Skips {
			list = append(list, s.Reason)
		}
		assert.Equal(t, tt.want, list, name)
	}
}

// F3: what a link leads to can be changed later, where the rules for its name don't look.
func TestLinksToOther(t *testing.T) {
	t.Parallel()
	const found = "app.py:1 meta/link-to-other"
	for name, tt := range map[string]struct {
		to, rulesFile string
		want          []string
	}{
		"to a text":           {"data.txt", "", []string{found}},
		"to code":             {"lib/a.py", "", nil},
		"to other code":       {"a.rb", "", []string{found}},
		"to what is excluded": {"vendor/a.py", "version: 1\nexclude: ['vendor/**']\n", []string{found}},
		"from there":          {"a.txt", "version: 1\nexclude: ['app.py']\n", nil},
		"switched off":        {"a.txt", "version: 1\ndisable: [meta/link-to-other]\n", nil},
		"no link":             {"", "", nil},
	} {
		for _, f := range []scan.File{
			{Content: []byte("x\n"), Before: &scan.Before{Path: tt.to}}, {},
			{Content: []byte(tt.to + " "), Added: []scan.LineRange{{First: 1, Last: 1}}},
		} {
			f.Path, f.LinkTo = "app.py", tt.to
			p := &pull{files: []scan.File{f}}
			if tt.rulesFile != "" {
				p.sides = both(tt.rulesFile)
			}
			got := run(t, p, regex("anywhere", "todo"), regex("python", "todo", languages("python"), severity(rule.High)))
			assert.ElementsMatch(t, tt.want, places(got), name)
			got = run(t, p, regex("python", "todo", languages("python"), severity(rule.Medium)))
			assert.Empty(t, places(got), name)
		}
	}
}
