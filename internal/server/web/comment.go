package web

import (
	"path"
	"strings"
)

// commentSyntax is how a comment begins and ends, by the ending or the name of files.
// What isn't here has `#`, as most files that configure something.
var commentSyntax = func() map[string][2]string {
	all := map[string][2]string{}
	for syntax, names := range map[[2]string]string{
		{"// ", ""}: "c cc cpp cs cts cxx dart fs go gradle groovy h hpp java js jsx json5 kt kts less m mjs mts php proto " +
			"rs scala scss swift ts tsx v zig jenkinsfile",
		{"-- ", ""}:        "sql lua hs elm ada adb ads vhd",
		{"<!-- ", " -->"}:  "html htm xml svg md markdown vue svelte xhtml xsl csproj plist",
		{"/* ", " */"}:     "css",
		{"{{/* ", " */}}"}: "tmpl gotmpl",
		{"% ", ""}:         "tex erl hrl",
		{"; ", ""}:         "clj cljs lisp el scm asm ini",
		{"' ", ""}:         "vb bas vbs",
		{`" `, ""}:         "vim",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = syntax
		}
	}

	return all
}()

// ignoreComment is the comment that suppresses a finding in a file.
func ignoreComment(file, ruleID string) string {
	name := strings.ToLower(path.Base(file))
	syntax, ok := commentSyntax[strings.TrimPrefix(path.Ext(name), ".")]
	if !ok {
		syntax, ok = commentSyntax[name]
	}
	if !ok {
		syntax = [2]string{"# ", ""}
	}

	return syntax[0] + "prwarden:ignore " + ruleID + " -- reason" + syntax[1]
}
