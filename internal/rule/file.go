package rule

import (
	"context"
	"fmt"
	"runtime"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"github.com/prwarden/prwarden/internal/errs"
)

// Bounds of a rules file.
const (
	MaxFileSize      = 64 << 10 // bytes
	MaxFileRules     = 500
	MaxFileExcludes  = 500 // globs under `exclude`
	MaxFileDisabled  = 500 // ids under `disable`
	MaxFileOverrides = 500 // ids under `override`
)

// Bounds of a rules file that belongs to whoever runs prwarden, where they
// differ.
const (
	MaxLocalFileSize  = 64 << 20 // bytes; more than as many rules of usual size take
	MaxLocalFileRules = 5000     // as an organization may have
)

// FilePath is where a repository has its rules file.
const FilePath = ".prwarden/rules.yml"

// File is a repository's rules file, valid in itself.
type File struct {
	Disable   []Disabled // each id once
	Exclude   []string   // globs of paths that no rule looks at
	Overrides []Override // each id once
	Publish   Publish    // what is published less
	Rules     []Rule     // with OriginRulesFile and ScopeRepo, without Repo

	lines []int // of the ids of Rules
	root  *yaml.Node
}

// Disabled is a default rule that is off in the repository.
type Disabled struct {
	ID   string
	Line int
}

// Override changes a default rule in the repository.
type Override struct {
	ID       string
	Line     int
	Severity Severity // 0 leaves it as it is
	Exclude  []string // globs of paths that the rule does not look at, beside its own
}

// ParseFile reads a rules file. It is one YAML document of at most MaxFileSize
// bytes without anchors and aliases:
//
//	version: 1                 # required
//	disable: [category/name]   # default rules that are off, at most MaxFileDisabled
//	override:                  # changes of default rules, at most MaxFileOverrides
//	  category/name: {severity: low, exclude: ["docs/**"]}
//	exclude: ["vendor/**"]     # paths that no rule looks at, at most MaxFileExcludes
//	publish: {comments: none}  # what is published less in pull requests
//	rules: […]                 # at most MaxFileRules, each with its own id
//
// Unknown keys are mistakes. So is everything that Validate refuses, and a rule
// that fails its own cases; all of them together may take caseWork. The error is a
// *FileError, or that of ctx when it ends meanwhile.
func ParseFile(ctx context.Context, data []byte) (*File, error) {
	return parseFile(ctx, data, repositoryFile)
}

// ParseLocalFile reads a rules file of whoever runs prwarden, who is trusted with
// more: MaxLocalFileSize, MaxLocalFileRules, and caseWork for the cases of each rule.
// In everything else it is ParseFile.
func ParseLocalFile(ctx context.Context, data []byte) (*File, error) {
	return parseFile(ctx, data, localFile)
}

// ParsePushFile reads a file with the rules of an organization. It is ParseLocalFile,
// but that rules may have `scope` and `repo`, and that there is only `rules`: what
// concerns default rules is the organization's policy.
func ParsePushFile(ctx context.Context, data []byte) ([]Rule, error) {
	f, err := parseFile(ctx, data, pushFile)
	if err != nil {
		return nil, err
	}
	return f.Rules, nil
}

// fileKind says whose a rules file is.
type fileKind int

const (
	repositoryFile fileKind = iota // a repository's, which anybody may have written
	localFile                      // of whoever runs prwarden
	pushFile                       // likewise, with the rules of an organization
)

func parseFile(ctx context.Context, data []byte, kind fileKind) (*File, error) {
	maxSize, maxRules := MaxFileSize, MaxFileRules
	if kind != repositoryFile {
		maxSize, maxRules = MaxLocalFileSize, MaxLocalFileRules
	}

	d := newDecoder(data)
	if len(data) > maxSize {
		d.fail(&yaml.Node{Line: 1}, "the file has %d bytes or more; at most %d are allowed", len(data), maxSize)
		return nil, d.err()
	}

	f := &File{root: d.document(data, "begin with `version: 1`")}
	if f.root == nil {
		return nil, d.err()
	}
	version := ""
	var rules []*yaml.Node
	d.mapping(f.root, "", map[string]reader{
		"version":  d.text(&version),
		"disable":  d.disabled(&f.Disable),
		"exclude":  d.globs(&f.Exclude, MaxFileExcludes),
		"override": d.overrides(&f.Overrides),
		"publish":  d.publish(&f.Publish),
		"rules": func(n *yaml.Node, place string) {
			d.list(n, place, maxRules, func(item *yaml.Node, _ string) { rules = append(rules, item) })
		},
	})

	if kind == pushFile {
		for _, key := range []string{"disable", "exclude", "override", "publish"} {
			if n := child(f.root, key); n != nil {
				d.fail(n, "%s: is for files of a repository; here it belongs to the organization's policy", key)
			}
		}
	}
	if version != "1" {
		d.fail(nodeAt(f.root, "version"), "version: must be 1; the first line should be `version: 1`")
	}

	d.rules(ctx, f, rules, kind)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return f, nil
}

// ParseDefaults reads a file of the default ruleset: a rules file with the key
// `rules` only. Rules are decoded but not validated, which is a test's work:
// the default ruleset is read at every start.
func ParseDefaults(data []byte) ([]Rule, error) {
	d := newDecoder(data)
	root := d.document(data, "begin with `rules:`")
	if root == nil {
		return nil, d.err()
	}

	var rules []Rule
	d.mapping(root, "", map[string]reader{"rules": func(n *yaml.Node, place string) {
		d.list(n, place, MaxLocalFileRules, func(item *yaml.Node, place string) {
			r := d.rule(item, place, localFile)
			r.Origin, r.Scope = OriginDefault, ScopeOrg
			rules = append(rules, r)
		})
	}})
	return rules, d.err()
}

// Line is the line of a key such as `publish.comments_max`, from 1.
func (f *File) Line(key string) int { return nodeAt(f.root, key).Line }

// CheckClashes returns a *FileError that names each rule of the file whose full
// id some other rule has, or nil. taken says which ruleset has a full id.
func (f *File) CheckClashes(taken func(fullID string) (Origin, bool)) error {
	var mistakes []Mistake
	for i, r := range f.Rules {
		origin, ok := taken(r.FullID())
		if !ok {
			continue
		}
		hint := "choose another"
		if origin == OriginDefault {
			hint = "choose another, or change the default rule under `override`"
		}
		mistakes = append(mistakes, Mistake{
			Line:    f.lines[i],
			Message: fmt.Sprintf("id: %s is the id of a rule of %s; %s", r.ID, origin, hint),
		})
	}

	if len(mistakes) > 0 {
		return &FileError{Mistakes: mistakes}
	}
	return nil
}

// disabled reads what is under `disable`.
func (d *decoder) disabled(into *[]Disabled) reader {
	return func(n *yaml.Node, place string) {
		seen := map[string]bool{}
		d.list(n, place, MaxFileDisabled, func(item *yaml.Node, place string) {
			if d.newID(item, place, seen) {
				*into = append(*into, Disabled{ID: item.Value, Line: d.line(item)})
			}
		})
	}
}

// overrides reads what is under `override`: a mapping of ids to what changes.
func (d *decoder) overrides(into *[]Override) reader {
	return func(n *yaml.Node, place string) {
		switch {
		case isNull(n):
			return
		case n.Kind != yaml.MappingNode:
			d.fail(n, "%s: must be a mapping of rule ids to what changes, as in `category/name: {severity: low}`", place)
			return
		case len(n.Content) > 2*MaxFileOverrides:
			d.fail(n, "%s: has %d ids; at most %d are allowed", place, len(n.Content)/2, MaxFileOverrides)
			return
		}

		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if !d.newID(key, place, seen) {
				continue
			}
			o := Override{ID: key.Value, Line: d.line(key)}
			d.mapping(value, place+"."+o.ID, map[string]reader{
				"severity": d.severity(&o.Severity),
				"exclude":  d.globs(&o.Exclude, MaxGlobs),
			})
			*into = append(*into, o)
		}
	}
}

// newID says whether n is the id of a rule, and the first of its kind.
func (d *decoder) newID(n *yaml.Node, place string, seen map[string]bool) bool {
	full := FullID(n.Value)
	if err := CheckAnyID(n.Value); err != nil {
		d.fail(n, "%s: an id %v", place, err)
		return false
	}
	if seen[full] {
		d.fail(n, "%s: this id is there twice", place)
		return false
	}
	seen[full] = true
	return true
}

// rule reads one rule, without validating it.
func (d *decoder) rule(n *yaml.Node, place string, kind fileKind) (r Rule) {
	enabled := true
	var in []string
	lists := func(known map[string]reader) reader {
		return func(n *yaml.Node, place string) {
			if !isNull(n) {
				d.mapping(n, place, known)
			}
		}
	}

	known := map[string]reader{
		"id":         d.text(&r.ID),
		"type":       d.text(&r.Type),
		"pattern":    d.text(&r.Pattern),
		"message":    d.text(&r.Message),
		"severity":   d.severity(&r.Severity),
		"multiline":  d.flag(&r.Multiline),
		"redact":     d.flag(&r.Redact),
		"references": d.texts(&r.References, MaxReferences),
		"languages":  d.texts(&r.Languages, MaxLanguages),
		"in":         d.texts(&in, MaxPlaces),
		"skip":       d.texts(&r.Skip, MaxSkip),
		"paths": lists(map[string]reader{
			"include": d.texts(&r.Paths.Include, MaxGlobs),
			"exclude": d.texts(&r.Paths.Exclude, MaxGlobs),
		}),
		"cases": lists(map[string]reader{
			"match":    d.texts(&r.Cases.Match, MaxCases),
			"no_match": d.texts(&r.Cases.NoMatch, MaxCases),
		}),
		"enabled": d.flag(&enabled),
		"mode":    d.text((*string)(&r.Mode)),

		"confidence": d.text((*string)(&r.Confidence)),
		"fix": func(n *yaml.Node, place string) {
			if !isNull(n) {
				r.Fix = new(string)
				d.text(r.Fix)(n, place)
			}
		},
	}
	d.conditions(&r, known)
	d.structure(&r, known)
	d.taint(&r, known)
	d.words(&r, known)
	if kind != repositoryFile {
		known["scope"], known["repo"] = d.text((*string)(&r.Scope)), d.text(&r.Repo)
	}

	d.mapping(n, place, known)
	r.Disabled, r.In = !enabled, PlacesOf(in)
	return r
}

// rules reads and validates the rules of a file. Those of one's own file are
// checked at the same time: there may be thousands.
func (d *decoder) rules(ctx context.Context, f *File, items []*yaml.Node, kind fileKind) {
	var workers errgroup.Group
	workers.SetLimit(1)
	if kind != repositoryFile {
		workers.SetLimit(runtime.GOMAXPROCS(0))
	}

	f.Rules, f.lines = make([]Rule, len(items)), make([]int, len(items))
	mistakes := make([][]Mistake, len(items))
	shared := &trials{left: caseWork}
	for i, item := range items {
		t := shared
		if kind != repositoryFile {
			t = &trials{left: caseWork}
		}
		workers.Go(func() error {
			own := decoder{lines: d.lines}
			f.Rules[i] = own.validRule(ctx, item, fmt.Sprintf("rules[%d]", i), t, kind)
			mistakes[i] = own.mistakes
			return nil
		})
	}

	_ = workers.Wait() // no worker fails

	first := make(map[string]int, len(items)) // line by full id
	for i, r := range f.Rules {
		id := nodeAt(items[i], "id")
		f.lines[i] = d.line(id)
		for _, m := range mistakes[i] {
			d.fail(&yaml.Node{Line: m.Line, Column: m.Column}, "%s", m.Message)
		}

		if line, ok := first[r.FullID()]; ok && r.ID != "" {
			d.fail(id, "rules[%d].id: %s is the id of the rule at line %d already", i, r.ID, line)
		}
		first[r.FullID()] = f.lines[i]
	}
}

// validRule reads and validates a rule.
func (d *decoder) validRule(ctx context.Context, n *yaml.Node, place string, t *trials, kind fileKind) Rule {
	r := d.rule(n, place, kind)
	var scope errs.Violations
	if kind != repositoryFile {
		scope = scopeViolations(r)
	}
	if kind == pushFile {
		r = r.normal()
	} else {
		r.Origin, r.Scope = OriginRulesFile, ScopeRepo
	}
	if len(d.mistakes) > 0 {
		return r // what seems to be missing may be what could not be read
	}
	if r.Type == TypeStructure {
		r.valid = &validStructure{}
	}
	for _, v := range append(t.violations(ctx, r), scope...) {
		d.fail(nodeAt(n, v.Field), "%s.%s: %s", place, v.Field, v.Description)
	}
	return r
}
