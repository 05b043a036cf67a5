// Package language says which languages a file is written in, by the tables of
// GitHub's linguist. What the name of a file says and what its first line says add
// up: nothing in a file takes a language away from it.
package language

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-enry/go-enry/v2/data"
)

// MaxName is the length of the longest name of a language, in bytes.
const MaxName = 100

// bourne is the language of shell scripts that aren't written for zsh alone, which splits
// no words. They have Shell too. Linguist has no such language.
const bourne = "Bourne Shell"

// Canonical returns the name of a language by which files have it, in lower case,
// for any of its names, as `golang` is `go`. ok is false for none.
func Canonical(name string) (canonical string, ok bool) {
	if len(name) > MaxName || strings.Contains(name, ",") {
		return "", false
	}
	if strings.EqualFold(name, bourne) {
		return strings.ToLower(bourne), true
	}
	found, ok := data.LanguageByAlias(name)

	return strings.ToLower(found), ok
}

// Names are the canonical names of all languages, sorted.
func Names() []string {
	names := append(make([]string, 0, len(data.LanguagesType)+1), strings.ToLower(bourne))
	for name := range data.LanguagesType {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)

	return names
}

// Of returns the languages of the file at a path whose first line is known, each by
// its canonical name and once. Case decides nothing, and of a name that several
// languages use the file has all. Lines behind the first one decide nothing.
func Of(file string, firstLine []byte) []string {
	named := byName(file)
	if name := nameOf(file); slices.Contains(named, "Shell") && !ofZsh(name) {
		named = slices.Concat(named, []string{bourne})
	}

	return unite(named, byFirstLine(firstLine))
}

// IsText says whether a file is text by its name or its first line, so that it
// should be possible to read it as text.
func IsText(file string, firstLine []byte) bool {
	if len(byFirstLine(firstLine)) > 0 {
		return true
	}

	return len(byName(file)) > 0 && !slices.Contains(binaryToo, path.Ext(nameOf(file)))
}

// binaryToo are the endings of text that common binary formats have too, and whose
// languages no rule of the default ruleset looks at.
var binaryToo = []string{
	".ai", ".bin", ".brd", ".cur", ".dat", ".doc", ".eps", ".epsi", ".fits", ".mat", ".mo", ".mod", ".nb", ".obj",
	".pb", ".pic", ".pkl", ".plist", ".ps", ".raw", ".res", ".sav", ".sch", ".stl", ".x",
	".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9", // as lib.so.1
}

// Inside returns the languages of code within the text of a file that has other
// languages: in markup, wherever it begins.
func Inside(languages []string, text []byte) (inside []string) {
	isMarkup := func(name string) bool { return strings.Contains(name, "html") || name == "xml" || name == "svg" }
	if !slices.ContainsFunc(languages, isMarkup) {
		return nil
	}

	for at := bytes.IndexByte(text, '<'); at >= 0 && len(inside) < len(markers); {
		for _, m := range markers {
			end := min(at+len(m.text), len(text))
			if bytes.EqualFold(text[at:end], []byte(m.text)) && !slices.Contains(inside, m.language) {
				inside = append(inside, m.language)
			}
		}
		next := bytes.IndexByte(text[at+1:], '<')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	slices.Sort(inside)

	return inside
}

// markers are what code in markup begins with, and its language.
var markers = []struct{ text, language string }{{"<?php", "php"}, {"<?=", "php"}, {"<script", "javascript"}}

// copied are endings that the name of a copy has behind that of the file.
var copied = []string{"~", ".bak", ".backup", ".old", ".orig", ".save"}

// nameOf is the name of a file in lower case, without what Windows leaves out and what
// a copy has beside it.
func nameOf(file string) string {
	name := strings.ToLower(path.Base(file))
	for before := ""; name != before; {
		before = name
		name = strings.TrimRight(name, ". ")
		for _, ending := range copied {
			name = strings.TrimSuffix(name, ending)
		}
	}

	return name
}

// filenames are the languages of whole names, in lower case.
var filenames = sync.OnceValue(func() map[string][]string { return inLowerCase(data.LanguagesByFilename) })

// interpreters are the languages of programs that run scripts, likewise.
var interpreters = sync.OnceValue(func() map[string][]string { return inLowerCase(data.LanguagesByInterpreter) })

func inLowerCase(table map[string][]string) map[string][]string {
	all := make(map[string][]string, len(table))
	for name, languages := range table {
		name = strings.ToLower(name)
		all[name] = append(all[name], languages...)
	}

	return all
}

// begun are beginnings of names, in lower case, of which `.` or `-` and more may follow.
var begun = []struct{ text, language string }{ // Dockerfile.web, Dockerfile-web, sshd_config.j2
	{"dockerfile", "Dockerfile"}, {"containerfile", "Dockerfile"},
	{"ssh_config", "SSH Config"}, {"sshd_config", "SSH Config"},
}

// byName returns the languages of a file by its name and by its longest ending
// that is known.
func byName(file string) []string {
	name := nameOf(file)
	languages := filenames()[name]
	for _, b := range begun {
		if rest, ok := strings.CutPrefix(name, b.text); ok && rest != "" && strings.ContainsAny(rest[:1], ".-") {
			languages = []string{b.language}
		}
	}
	switch folder := strings.ToLower(path.Base(path.Dir(file))); {
	case folder == ".ssh" && name == "config", folder == "ssh" && strings.HasSuffix(name, ".conf"),
		folder == "ssh_config.d", folder == "sshd_config.d":
		languages = slices.Concat(languages, []string{"SSH Config"})
	case strings.HasSuffix(name, ".psql"): // linguist doesn't know it
		languages = slices.Concat(languages, []string{"PLpgSQL"})
	}

	for at := range len(name) {
		if name[at] != '.' {
			continue
		}
		if byEnding, ok := data.LanguagesByExtension[name[at:]]; ok {
			return slices.Concat(languages, byEnding)
		}
	}

	return languages
}

// ofZsh says whether a name, in lower case, is one of a script for zsh.
func ofZsh(name string) bool {
	switch name {
	case ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", "zshrc", "zshenv", "zprofile", "zlogin", "zlogout":
		return true
	}

	return strings.HasSuffix(name, ".zsh") || strings.HasSuffix(name, ".zsh-theme")
}

// maxFirstLine is how much of a first line is looked at, in bytes. Linux takes no
// more of a line that names an interpreter.
const maxFirstLine = 256

// beginnings are what a first line begins with, in lower case, after blanks.
var beginnings = []struct{ text, language string }{
	{"<?php", "PHP"}, {"<?xml", "XML"}, {"<!doctype html", "HTML"}, {"<html", "HTML"},
}

// byFirstLine returns the languages that the first line of a file names: its
// interpreters, whatever program starts them, or how markup begins.
func byFirstLine(line []byte) (languages []string) {
	line, _, _ = bytes.Cut(line[:min(len(line), maxFirstLine)], []byte{'\n'})
	text := strings.ToLower(strings.TrimPrefix(string(line), "\ufeff"))
	words, isScript := strings.CutPrefix(text, "#!")
	if isScript {
		for word := range strings.FieldsSeq(words) {
			name := strings.TrimSuffix(path.Base(strings.ReplaceAll(word, `\`, "/")), ".exe")
			plain := strings.TrimRight(name, "0123456789.-")
			languages = append(languages, interpreters()[name]...)
			languages = append(languages, interpreters()[plain]...)
			if plain != "zsh" && slices.Contains(interpreters()[plain], "Shell") {
				languages = append(languages, bourne)
			}
		}
	}

	for _, b := range beginnings {
		if strings.HasPrefix(strings.TrimLeft(text, " \t"), b.text) {
			languages = append(languages, b.language)
		}
	}

	return languages
}

// unite returns the canonical names of languages, each once.
func unite(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, name := range list {
			if name = strings.ToLower(name); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}

	return all
}
