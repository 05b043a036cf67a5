package rule

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"go.yaml.in/yaml/v3"
)

// Bounds of a rules file.
const (
	MaxFileSize     = 64 << 10 // bytes
	MaxFileRules    = 500
	MaxFileExcludes = 500 // globs under `exclude`
	MaxFileDisabled = 500 // ids under `disable`
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
	Disable []Disabled // in order
	Exclude []string   // globs of paths that no rule looks at
	// Overrides change default rules, in order, each id once.
	Overrides []Override
	Rules     []Rule // in order, with OriginRulesFile and ScopeRepo, without Repo
	lines     []int  // of the ids of Rules
	fields    []fields
	nodes     map[string]*yaml.Node // of texts outside of rules, by their names in mistakes
	source    source
}

// Disabled is a default rule that is off in the repository.
type Disabled struct {
	ID   string
	Line int
}

// ParseFile reads a rules file. It is one YAML document of at most MaxFileSize
// bytes without anchors and aliases:
//
//	version: 1                 # required
//	disable: [category/name]   # default rules that are off, at most MaxFileDisabled
//	override:                  # changes of default rules, at most MaxFileOverrides
//	  category/name: {severity: low, exclude: ["docs/**"]}
//	exclude: ["vendor/**"]     # paths that no rule looks at, at most MaxFileExcludes
//	rules: […]                 # at most MaxFileRules, each with its own id
//
// Unknown keys are mistakes. So is everything that Validate refuses, and a rule
// that fails its own cases; all of them together may take Budget. The error is a
// *FileError, or that of ctx when it ends meanwhile.
func ParseFile(ctx context.Context, data []byte) (*File, error) {
	return ReadFile(ctx, data, Reading{})
}

// ParseLocalFile reads a rules file of whoever runs prwarden, who is trusted with
// more: MaxLocalFileSize, MaxLocalFileRules, and Budget for the cases of each rule.
// In everything else it is ParseFile.
func ParseLocalFile(ctx context.Context, data []byte) (*File, error) {
	return ReadFile(ctx, data, Reading{Local: true})
}

// Reading says how a rules file is read.
type Reading struct {
	// Local says that it belongs to whoever runs prwarden: see ParseLocalFile.
	Local bool
	// Thorough looks for everything that is wrong, at most 1,000 things, and
	// gives mistakes columns and more hints, which may quote the file. It takes
	// a few times as long.
	Thorough bool
	// NoCases leaves the cases of rules to others.
	NoCases bool
}

// size is how large the file may be, in bytes.
func (r Reading) size() int {
	if r.Local {
		return MaxLocalFileSize
	}
	return MaxFileSize
}

// rules is how many the file may have.
func (r Reading) rules() int {
	if r.Local {
		return MaxLocalFileRules
	}
	return MaxFileRules
}

// ReadFile is ParseFile, or ParseLocalFile, in other ways. Read thoroughly, a file
// with mistakes is returned beside the error, with what could be read of it.
func ReadFile(ctx context.Context, data []byte, how Reading) (*File, error) {
	d := decoder{thorough: how.Thorough, nodes: map[string]*yaml.Node{}}
	if len(data) > how.size() {
		d.fail(1, "the file has %d bytes or more; at most %d are allowed", len(data), how.size())
		return nil, d.err()
	}
	root := d.document(data)
	if root == nil {
		return nil, d.err()
	}
	file := &File{source: d.source, nodes: d.nodes}
	versioned := false
	d.mapping(root, "the file", []string{
		"disable", "exclude", "override", "rules", "version",
	}, func(key string, n *yaml.Node) {
		switch key {
		case "version":
			versioned = true
			if d.plain(n, "version") && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Value != "1") {
				d.failAt(n, "write `version: 1`, without quotes", "version: must be 1, the only version so far")
			}
		case "disable":
			file.Disable = d.disable(n)
		case "exclude":
			file.Exclude = d.globs(n, "exclude", MaxFileExcludes)
		case "override":
			file.Overrides = d.overrides(n)
		case "rules":
			d.fileRules(ctx, n, how, file)
		}
	})
	if !versioned {
		d.fail(root.Line, "version: is required; the first line should be `version: 1`")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.err(); err != nil && !how.Thorough {
		return nil, err
	}
	return file, d.err()
}

// RuleLine is the line, from 1, of the rule with index i.
func (f *File) RuleLine(i int) int { return f.lines[i] }

// FieldLine is the line, from 1, of a field of the rule with index i, such as
// `cases.match[0]`, or of what it is in.
func (f *File) FieldLine(i int, field string) int {
	d := decoder{source: f.source}
	return d.line(f.fields[i].node(field).Line)
}

// CheckClashes returns a *FileError that names each rule of the file whose full
// id some other rule has, or nil. taken says which ruleset has a full id.
func (f *File) CheckClashes(taken func(fullID string) (Origin, bool)) error {
	d := decoder{source: f.source}
	for i, r := range f.Rules {
		if origin, ok := taken(r.FullID()); ok {
			hint := ""
			if origin == OriginDefault {
				hint = "a default rule is changed under `override`, and switched off under `disable`"
			}
			d.failAt(f.fields[i].node("id"), hint, "id: %s is the id of a rule of %s; choose another", r.ID, origin)
		}
	}
	return d.err()
}

// String names the ruleset for messages.
func (o Origin) String() string {
	switch o {
	case OriginDefault:
		return "the default ruleset"
	case OriginCustom:
		return "the organization"
	case OriginRepository:
		return "the repository (created over the API)"
	case OriginRulesFile:
		return "the rules file"
	}
	return "no ruleset"
}

// ParseDefaults reads a file of the default ruleset: a rules file with the key
// `rules` only. Rules are decoded but not validated, which is a test's work:
// the default ruleset is read at every start.
func ParseDefaults(data []byte) ([]Rule, error) {
	var d decoder
	root := d.document(data)
	if root == nil {
		return nil, d.err()
	}
	var rules []Rule
	d.mapping(root, "the file", []string{"rules"}, func(_ string, n *yaml.Node) {
		for _, item := range d.list(n, "rules") {
			r, _, _ := d.rule(item)
			r.Origin, r.Scope = OriginDefault, ScopeOrg
			rules = append(rules, r)
		}
	})
	return rules, d.err()
}

func (d *decoder) disable(n *yaml.Node) []Disabled {
	items := d.list(n, "disable")
	if len(items) > MaxFileDisabled {
		d.fail(items[MaxFileDisabled].Line, "disable: has %d ids; at most %d are allowed", len(items), MaxFileDisabled)
		return nil
	}
	var list []Disabled
	seen := map[string]bool{}
	for i, item := range items {
		id, ok := d.text(item, indexed("disable", i))
		if !ok {
			continue
		}
		if err := CheckID(id); err != nil {
			d.failAt(item, idHint(id), "disable[%d]: %v", i, err)
			continue
		}
		if seen[FullID(id)] {
			d.failAt(item, "remove one of them", "disable[%d]: this id is there twice", i)
			continue
		}
		seen[FullID(id)] = true
		list = append(list, Disabled{ID: id, Line: d.line(item.Line)})
	}
	return list
}

// fileRules reads and validates the rules of a rules file.
func (d *decoder) fileRules(ctx context.Context, n *yaml.Node, how Reading, file *File) {
	items := d.list(n, "rules")
	if len(items) > how.rules() {
		d.fail(items[how.rules()].Line, "rules: has %d rules; at most %d are allowed", len(items), how.rules())
		return
	}
	known := make(map[string]int, len(items)) // line by full id
	file.Rules, file.lines, file.fields = slices.Grow(
		file.Rules, len(items),
	), slices.Grow(file.lines, len(items)), slices.Grow(file.fields, len(items))
	for i, c := range d.check(ctx, items, how) {
		for _, m := range c.mistakes {
			d.add(m)
		}
		id := c.fields.node("id")
		if CheckID(c.rule.ID) == nil {
			if first, ok := known[c.rule.FullID()]; ok {
				d.failAt(
					id, "choose another id, or remove one of the rules",
					"rules[%d].id: %s is the id of the rule at line %d already", i, c.rule.ID, first,
				)
			}
			known[c.rule.FullID()] = d.line(id.Line)
		}
		file.Rules, file.lines, file.fields = append(
			file.Rules, c.rule,
		), append(file.lines, d.line(id.Line)), append(file.fields, c.fields)
		if len(d.mistakes) >= d.limit() {
			break
		}
	}
}

// checked is one rule of a rules file.
type checked struct {
	rule     Rule
	fields   fields
	mistakes []Mistake
}

// check yields the rules in items by their indexes. Those of one's own file are
// checked ahead and at the same time: there may be thousands.
func (d *decoder) check(ctx context.Context, items []*yaml.Node, how Reading) iter.Seq2[int, checked] {
	if !how.Local {
		shared := &trials{ctx: ctx, left: Budget, off: how.NoCases}
		return func(yield func(int, checked) bool) {
			for i, item := range items {
				if !yield(i, d.checkOne(i, item, shared)) {
					return
				}
			}
		}
	}
	all := make([]checked, len(items))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(items); i = int(next.Add(1)) - 1 {
				all[i] = d.checkOne(i, items[i], &trials{ctx: ctx, left: Budget, off: how.NoCases})
			}
		})
	}
	workers.Wait()
	return slices.All(all)
}

// checkOne reads and validates the rule with index i. It changes nothing in d.
func (d *decoder) checkOne(i int, item *yaml.Node, t *trials) checked {
	own := decoder{source: d.source, thorough: d.thorough}
	r, f, ok := own.rule(item)
	r.Origin, r.Scope = OriginRulesFile, ScopeRepo
	if ok {
		for _, v := range violations(r, t) {
			if f.unread[v.Field] {
				continue // which was told
			}
			hint := Hint(r, v.Field, v.Description)
			if d.thorough && hint == "" {
				hint = t.hint(r, v.Field)
			}
			n := f.node(v.Field)
			own.add(Mistake{
				Line: own.line(n.Line), Column: own.source.columnWithin(n, v.Description), Hint: hint,
				Message: fmt.Sprintf("rules[%d].%s: %s", i, v.Field, v.Description),
			})
		}
	}
	return checked{rule: r, fields: f, mistakes: own.mistakes}
}
