package command_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/command"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const f = "5f2b8c0e9d714a63b1f0c2d3e4a59687"
	rescan := command.Command{Kind: command.Rescan}
	for body, want := range map[string][]command.Command{
		"/prwarden rescan":                      {rescan},
		"Please:\r\n/prwarden rescan \t\r\nThx": {rescan},
		"/prwarden explain security/no-eval":    {{Kind: command.Explain, RuleID: "security/no-eval"}},
		"/prwarden explain own":                 {{Kind: command.Explain, RuleID: "own"}},
		"/prwarden ignore " + f + " -- our own": {{Kind: command.Ignore, Fingerprint: f, Reason: "our own"}},
		"/prwarden ignore " + f + " -- until it is gone until 2027-01-31": {
			{Kind: command.Ignore, Fingerprint: f, Reason: "until it is gone", Until: "2027-01-31"},
		},
		"/prwarden rescan\n/prwarden explain a/b": {rescan, {Kind: command.Explain, RuleID: "a/b"}},
		strings.Repeat("/prwarden rescan\n", 9):   {rescan, rescan, rescan, rescan, rescan},

		"/prwarden":                       {{}},
		"/prwarden rescan now":            {{}},
		"/prwarden  rescan":               {{}},
		"/prwarden Rescan":                {{}},
		"/prwarden ignore " + f:           {{}},
		"/prwarden ignore " + f + " --":   {{}},
		"/prwarden ignore ALL -- because": {{}},
		"/prwarden explain ../../etc":     {{}},
		"/prwarden explain <img src=x>":   {{}},

		"":                                  nil,
		"prwarden rescan":                   nil,
		"/prwardenrescan":                   nil,
		"/Prwarden rescan":                  nil,
		"use /prwarden rescan":              nil,
		" /prwarden rescan":                 nil,
		"- /prwarden rescan":                nil,
		"> /prwarden rescan":                nil,
		"    /prwarden rescan":              nil,
		"`/prwarden rescan`":                nil,
		"```\n/prwarden rescan\n```":        nil,
		"```sh\n/prwarden rescan":           nil,
		"````\n```\n/prwarden rescan\n````": nil,
		"~~~\n```\n/prwarden rescan\n~~~":   nil,
		"> quoted\n/prwarden rescan":        nil,
		"> quoted\nmore\n/prwarden rescan":  nil,
		"<!--\n/prwarden rescan\n-->":       nil,
		"a <!-- x\n\n/prwarden rescan":      nil,
		"<PRE>\n/prwarden rescan\n</PRE>":   nil,
		"<details>\n\n/prwarden rescan":     nil,
		"<blockquote>\n/prwarden rescan\n":  nil,

		"> quoted\n\n/prwarden rescan":         {rescan},
		"```\ncode\n```\n/prwarden rescan":     {rescan},
		"``` no fence ```\n/prwarden rescan":   {rescan},
		"<!-- all of it -->\n/prwarden rescan": {rescan},
		"<!--\n-->\n/prwarden rescan":          {rescan},
	} {
		assert.Equal(t, want, command.Parse(body), "%q", body)
	}
}

// Whatever somebody writes, what is found are lines of it that begin with the word.
func FuzzParse(f *testing.F) {
	f.Add("/prwarden rescan\n> /prwarden rescan\n```\n/prwarden explain a\n```\n/prwarden ignore 0f -- a until 2027-01-31")
	f.Fuzz(func(t *testing.T, body string) {
		commands := command.Parse(body)
		lines := 0
		for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
			if strings.HasPrefix(line, "/prwarden") {
				lines++
			}
		}
		assert.LessOrEqual(t, len(commands), min(lines, command.MaxCommands))
		for _, c := range commands {
			assert.NotContains(t, c.Reason, "\n")
			assert.Empty(t, strings.Trim(c.Fingerprint, "0123456789abcdef"))
			assert.Equal(t, c.Kind == command.Ignore, c.Fingerprint != "" && c.Reason != "")
			assert.Equal(t, c.Kind == command.Explain, c.RuleID != "")
		}
		quoted := "> " + strings.NewReplacer("\r\n", "\n> ", "\n", "\n> ").Replace(body)
		assert.Empty(t, command.Parse(quoted), "a quote asks for nothing")
	})
}
