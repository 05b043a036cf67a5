package scan

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// rulesFiles is the repository's rules file at both ends of a pull request.
type rulesFiles struct {
	base    *rule.File // nil when there is none that is valid
	baseErr *rule.FileError
	head    *rule.File
	headErr *rule.FileError
	deleted bool // the pull request deletes it
	given   bool // base is that of the request
	locked  func(rule.Rule) bool
	publish policy.Publish // what the policy has published in the repository

	defaults map[string]bool        // full ids of default rules
	taken    map[string]rule.Origin // full ids of all rules of the request
}

func readRulesFiles(ctx context.Context, change Change, r Request) (_ *rulesFiles, err error) {
	if r.File != nil {
		return &rulesFiles{base: r.File, given: true}, nil
	}

	by := r.policy()
	f := &rulesFiles{
		defaults: map[string]bool{}, taken: map[string]rule.Origin{}, locked: by.Locker(), publish: by.Publish.In(r.Repo),
	}
	for _, x := range r.Rules.rules {
		if x.Origin == rule.OriginDefault {
			f.defaults[x.FullID()] = true
		}
		f.taken[x.FullID()] = max(f.taken[x.FullID()], x.Origin) // others go before default rules
	}

	if f.base, f.baseErr, _, err = f.read(ctx, change, Base, r.Repo); err != nil {
		return nil, err
	}
	var atHead bool
	if f.head, f.headErr, atHead, err = f.read(ctx, change, Head, r.Repo); err != nil {
		return nil, err
	}
	if !atHead {
		_, f.deleted, err = change.ReadFile(ctx, MergeBase, rule.FilePath, 0)
	}

	return f, err
}

// missing reports whether rules that the ruleset of the request wants could not be
// read, because the base's rules file is broken.
func (f *rulesFiles) missing(ruleset string) bool {
	return f.baseErr != nil && ruleset != rule.RulesetCustom
}

// read reads the rules file on one side. One with mistakes is broken.
func (f *rulesFiles) read(ctx context.Context, change Change, side Side, repo string) (
	file *rule.File, broken *rule.FileError, found bool, err error,
) {
	data, found, err := change.ReadFile(ctx, side, rule.FilePath, rule.MaxFileSize)
	if err != nil || !found {
		return nil, nil, false, err
	}

	file, err = rule.ParseFile(ctx, data)
	if err == nil {
		err = file.CheckClashes(func(id string) (rule.Origin, bool) { origin, ok := f.taken[id]; return origin, ok })
	}
	if err != nil {
		if errors.As(err, &broken) {
			err = nil
		}
		return nil, broken, true, err
	}

	for i := range file.Rules {
		file.Rules[i].Repo = repo
	}

	return file, nil, true, nil
}

// findings returns what there is to say about the rules file. edited says
// whether it is among the changed files at head.
func (f *rulesFiles) findings(edited bool) []finding.Finding {
	if f.given {
		return nil
	}

	about := &reports{file: rule.FilePath, prints: fingerprinter{}}
	if f.baseErr != nil {
		then := ""
		if edited && f.headErr == nil {
			then = " This pull request repairs it."
		}
		about.add(rule.MetaRulesFileInvalid, rule.High, f.baseErr.Line(), f.baseErr.Mistakes[0].Message,
			"The rules file in the base of this pull request is broken, so nothing in it applies: %v.%s", f.baseErr, then)
	}
	if edited && f.headErr != nil {
		about.add(rule.MetaRulesFileInvalid, rule.High, f.headErr.Line(), f.headErr.Mistakes[0].Message,
			"The rules file at the head of this pull request is broken, so nothing in it would apply once merged: %v.",
			f.headErr)
	}

	if edited {
		about.add(rule.MetaRulesFileChanged, rule.Info, 1, "",
			"This pull request changes the rules file; its rules apply once it is merged.")
	} else if f.deleted {
		about.add(rule.MetaRulesFileChanged, rule.Info, 1, "",
			"This pull request deletes the rules file; until it is merged the base's applies.")
	}

	// Of an edited file the head says what will be; ids that it drops are no
	// one's concern any more.
	if edited && f.head != nil {
		f.ids(about, f.head, "the head of this pull request")
		f.louder(about, f.head, "the head of this pull request")
	} else if f.base != nil {
		f.ids(about, f.base, "the base of this pull request")
		f.louder(about, f.base, "the base of this pull request")
	}

	return about.list
}

// ids reports the first ids in a rules file that no default rule has, and those of
// rules that are locked.
func (f *rulesFiles) ids(about *reports, file *rule.File, where string) {
	most := len(about.list) + maxReports
	report := func(verb, id string, line int) {
		full := rule.FullID(id)
		switch {
		case len(about.list) >= most:
		case f.locked(rule.Rule{ID: id, Origin: rule.OriginDefault}):
			about.add(rule.MetaRulesFileLocked, rule.Warning, line, id,
				"The rules file at %s %s %s, which the organization has locked: this changes nothing. Remove it.",
				where, verb, id)
		case !f.defaults[full] && !rule.IsMeta(full):
			about.add(rule.MetaRulesFileUnknownID, rule.Warning, line, id,
				"The rules file at %s %s %s, which is not a rule of the default ruleset; correct the id or remove it.",
				where, verb, id)
		}
	}

	for _, d := range file.Disable {
		report("disables", d.ID, d.Line)
	}
	for _, o := range file.Overrides {
		report("overrides", o.ID, o.Line)
	}
}

// louder reports of what a rules file wants more published than the policy says.
func (f *rulesFiles) louder(about *reports, file *rule.File, where string) {
	all := f.publish.Louder(file.Publish)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		about.add(rule.MetaRulesFileLocked, rule.Warning, file.Line("publish."+key), key,
			"The rules file at %s wants more published by publish.%s than the organization's policy says, which is %s: "+
				"this changes nothing. Remove it.", where, key, all[key])
	}
}

// reports collects findings about no line that a rule looks at.
type reports struct {
	file   string
	list   []finding.Finding
	prints fingerprinter
}

// add adds a finding. about stands for the line's text in the fingerprint.
func (m *reports) add(id string, severity rule.Severity, line int, about, format string, args ...any) {
	m.list = append(m.list, finding.Finding{
		RuleID: id, Severity: severity, File: m.file, Message: fmt.Sprintf(format, args...),
		Line: line, EndLine: line, Column: 1, EndColumn: 1, UTF16Column: 1, UTF16EndColumn: 1,
		Fingerprint: m.prints.next(identity{ruleID: id, file: m.file, text: about}),
	})
}
