package scan

import (
	"context"
	"errors"
	"fmt"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// The rules of findings that are about the rules file.
const (
	metaInvalid   = rule.CategoryMeta + "/rules-file-invalid"
	metaChanged   = rule.CategoryMeta + "/rules-file-changed"
	metaUnknownID = rule.CategoryMeta + "/rules-file-unknown-id"
)

// maxUnknownIDs is how many unknown ids are reported one by one: a pull request
// must not be able to bury its findings.
const maxUnknownIDs = 20

// rulesFiles is the repository's rules file at both ends of a pull request.
type rulesFiles struct {
	base    *rule.File // nil when there is none that is valid
	baseErr *rule.FileError

	head    *rule.File
	headErr *rule.FileError

	deleted  bool // the pull request deletes it
	given    bool // base is that of the request
	defaults map[string]bool
}

func readRulesFiles(ctx context.Context, change Change, r Request) (*rulesFiles, error) {
	if r.File != nil {
		return &rulesFiles{base: r.File, given: true}, nil
	}

	taken := map[string]rule.Origin{}
	f := &rulesFiles{defaults: map[string]bool{}}
	for _, x := range r.Rules.rules {
		if x.Origin == rule.OriginDefault {
			f.defaults[x.FullID()] = true
		}
		if _, ok := taken[x.FullID()]; !ok || x.Origin != rule.OriginDefault {
			taken[x.FullID()] = x.Origin
		}
	}

	read := func(side Side) (*rule.File, *rule.FileError, bool, error) {
		data, found, err := change.ReadFile(ctx, side, rule.FilePath, rule.MaxFileSize)
		if err != nil || !found {
			return nil, nil, false, err
		}
		file, err := parseRulesFile(ctx, data, taken, r.Repo)
		var broken *rule.FileError
		if err != nil && !errors.As(err, &broken) {
			return nil, nil, true, err
		}
		return file, broken, true, nil
	}

	var atHead bool
	var err error
	if f.base, f.baseErr, _, err = read(Base); err != nil {
		return nil, err
	}
	if f.head, f.headErr, atHead, err = read(Head); err != nil {
		return nil, err
	}
	if !atHead {
		_, f.deleted, err = change.ReadFile(ctx, MergeBase, rule.FilePath, 0)
	}

	return f, err
}

func parseRulesFile(ctx context.Context, data []byte, taken map[string]rule.Origin, repo string) (*rule.File, error) {
	file, err := rule.ParseFile(ctx, data)
	if err != nil {
		return nil, err
	}
	err = file.CheckClashes(func(id string) (rule.Origin, bool) {
		origin, ok := taken[id]
		return origin, ok
	})
	if err != nil {
		return nil, err
	}
	for i := range file.Rules {
		file.Rules[i].Repo = repo
	}
	return file, nil
}

// findings returns what there is to say about the rules file. edited says
// whether it is among the changed files at head.
func (f *rulesFiles) findings(edited bool) []finding.Finding {
	if f.given {
		return nil
	}

	var about metas
	if f.baseErr != nil {
		then := ""
		if edited && f.headErr == nil {
			then = " This pull request repairs it."
		}
		about.add(metaInvalid, rule.High, f.baseErr.Line(), f.baseErr.Mistakes[0].Message,
			"The rules file in the base of this pull request is broken, so nothing in it applies: %v.%s", f.baseErr, then)
	}
	if edited && f.headErr != nil {
		about.add(metaInvalid, rule.High, f.headErr.Line(), f.headErr.Mistakes[0].Message,
			"The rules file at the head of this pull request is broken, so nothing in it would apply once merged: %v.",
			f.headErr)
	}
	if edited {
		about.add(metaChanged, rule.Info, 1, "",
			"This pull request changes the rules file; its rules apply once it is merged.")
	} else if f.deleted {
		about.add(metaChanged, rule.Info, 1, "",
			"This pull request deletes the rules file; until it is merged the base's applies.")
	}

	// Of an edited file the head says what will be; ids that it drops are no
	// one's concern any more.
	if edited && f.head != nil {
		f.unknownIDs(&about, f.head, "the head of this pull request")
	} else if f.base != nil {
		f.unknownIDs(&about, f.base, "the base of this pull request")
	}

	return about.list
}

// unknownIDs reports ids in a rules file that no default rule has.
func (f *rulesFiles) unknownIDs(about *metas, file *rule.File, where string) {
	type named struct {
		id   string
		line int
	}
	var disabled, overridden []named
	for _, d := range file.Disable {
		if !f.defaults[rule.FullID(d.ID)] {
			disabled = append(disabled, named{d.ID, d.Line})
		}
	}
	for _, o := range file.Overrides {
		if !f.defaults[rule.FullID(o.ID)] {
			overridden = append(overridden, named{o.ID, o.Line})
		}
	}

	report := func(verb string, unknown []named) {
		for _, n := range unknown[:min(len(unknown), maxUnknownIDs)] {
			about.add(metaUnknownID, rule.Warning, n.line, n.id,
				"The rules file at %s %s %s, which is not a rule of the default ruleset; correct the id or remove it.",
				where, verb, n.id)
		}
		if more := len(unknown) - maxUnknownIDs; more > 0 {
			about.add(metaUnknownID, rule.Warning, unknown[maxUnknownIDs].line, "",
				"The rules file at %s %s %d more ids that are not rules of the default ruleset.", where, verb, more)
		}
	}
	report("disables", disabled)
	report("overrides", overridden)
}

// metas collects findings about the rules file.
type metas struct {
	list   []finding.Finding
	prints fingerprinter
}

// add adds a finding. about stands for the line's text in the fingerprint.
func (m *metas) add(id string, severity rule.Severity, line int, about, format string, args ...any) {
	if m.prints == nil {
		m.prints = fingerprinter{}
	}
	m.list = append(m.list, finding.Finding{
		RuleID: id, Severity: severity, File: rule.FilePath, Message: fmt.Sprintf(format, args...),
		Line: line, EndLine: line, Column: 1, EndColumn: 1, UTF16Column: 1, UTF16EndColumn: 1,
		Fingerprint: m.prints.next(identity{ruleID: id, file: rule.FilePath, text: about}),
	})
}
