package rule

import (
	"context"
	"fmt"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
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
	maxMistakes     = 50  // that are looked for
	maxMistake      = 300 // bytes of a mistake's message: it may quote the file
)

// Bounds of a rules file that belongs to whoever runs prwarden, where they
// differ.
const (
	MaxOwnFileSize  = 64 << 20 // bytes; more than as many rules of usual size take
	MaxOwnFileRules = 5000     // as an organization may have
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
}

// Disabled is a default rule that is off in the repository.
type Disabled struct {
	ID   string
	Line int
}

// FileError says what is wrong with a rules file.
type FileError struct {
	Mistakes []Mistake // at least one, by line
	// Cut says that the search ended when it had found as many as are looked
	// for, so there may be more.
	Cut bool
}

// Mistake is one thing that is wrong, at a line from 1.
type Mistake struct {
	Line    int
	Message string // a phrase
}

// Line is the line of the first mistake.
func (e *FileError) Line() int { return e.Mistakes[0].Line }

// Error names the first three mistakes, each with its line.
func (e *FileError) Error() string {
	const shown = 3
	var parts []string
	for _, m := range e.Mistakes[:min(shown, len(e.Mistakes))] {
		parts = append(parts, fmt.Sprintf("line %d: %s", m.Line, m.Message))
	}
	text := strings.Join(parts, "; ")
	if n := len(e.Mistakes) - shown; n > 0 {
		if text += fmt.Sprintf("; and %d more", n); e.Cut {
			text += ", perhaps others"
		}
	}
	return text
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
	return parseFile(ctx, data, bounds{size: MaxFileSize, rules: MaxFileRules})
}

// ParseOwnFile reads a rules file of whoever runs prwarden, who is trusted with
// more: MaxOwnFileSize, MaxOwnFileRules, and Budget for the cases of each rule.
// In everything else it is ParseFile.
func ParseOwnFile(ctx context.Context, data []byte) (*File, error) {
	return parseFile(ctx, data, bounds{size: MaxOwnFileSize, rules: MaxOwnFileRules, own: true})
}

// bounds are what differs between the rules files of a stranger and one's own.
type bounds struct {
	size  int // bytes
	rules int
	own   bool // rules are checked at the same time, the cases of each with Budget
}

func parseFile(ctx context.Context, data []byte, limits bounds) (*File, error) {
	var d decoder
	if len(data) > limits.size {
		d.fail(1, "the file has %d bytes or more; at most %d are allowed", len(data), limits.size)
		return nil, d.err()
	}
	root := d.document(data)
	if root == nil {
		return nil, d.err()
	}
	file := &File{}
	versioned := false
	d.mapping(root, "the file", map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) {
			versioned = true
			if d.plain(n, "version") && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Value != "1") {
				d.fail(n.Line, "version: must be 1, the only version so far")
			}
		},
		"disable":  func(n *yaml.Node) { file.Disable = d.disable(n) },
		"exclude":  func(n *yaml.Node) { file.Exclude = d.globs(n, "exclude", MaxFileExcludes) },
		"override": func(n *yaml.Node) { file.Overrides = d.overrides(n) },
		"rules":    func(n *yaml.Node) { file.Rules, file.lines = d.fileRules(ctx, n, limits) },
	})
	if !versioned {
		d.fail(root.Line, "version: is required; the first line should be `version: 1`")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return file, nil
}

// RuleLine is the line, from 1, of the rule with index i.
func (f *File) RuleLine(i int) int { return f.lines[i] }

// CheckClashes returns a *FileError that names each rule of the file whose full
// id some other rule has, or nil. taken says which ruleset has a full id.
func (f *File) CheckClashes(taken func(fullID string) (Origin, bool)) error {
	d := decoder{lines: math.MaxInt}
	for i, r := range f.Rules {
		if origin, ok := taken(r.FullID()); ok {
			d.fail(f.lines[i], "id: %s is the id of a rule of %s; choose another", r.ID, origin)
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
	d.mapping(root, "the file", map[string]func(*yaml.Node){
		"rules": func(n *yaml.Node) {
			for _, item := range d.list(n, "rules") {
				r, _ := d.rule(item)
				r.Origin, r.Scope = OriginDefault, ScopeOrg
				rules = append(rules, r)
			}
		},
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
		id, ok := d.text(item, fmt.Sprintf("disable[%d]", i))
		if !ok {
			continue
		}
		if err := CheckID(id); err != nil {
			d.fail(item.Line, "disable[%d]: %v", i, err)
			continue
		}
		if seen[FullID(id)] {
			d.fail(item.Line, "disable[%d]: this id is there twice", i)
			continue
		}
		seen[FullID(id)] = true
		list = append(list, Disabled{ID: id, Line: d.line(item.Line)})
	}
	return list
}

// fileRules reads and validates the rules of a rules file.
func (d *decoder) fileRules(ctx context.Context, n *yaml.Node, limits bounds) (rules []Rule, lines []int) {
	items := d.list(n, "rules")
	if len(items) > limits.rules {
		d.fail(items[limits.rules].Line, "rules: has %d rules; at most %d are allowed", len(items), limits.rules)
		return nil, nil
	}
	known := map[string]int{} // line by full id
	for i, c := range d.check(ctx, items, limits) {
		for _, m := range c.mistakes {
			d.fail(m.Line, "%s", m.Message)
		}
		if c.readable {
			if first, ok := known[c.rule.FullID()]; ok {
				d.fail(c.line, "rules[%d].id: %s is the id of the rule at line %d already", i, c.rule.ID, first)
			}
			known[c.rule.FullID()] = c.line
		}
		rules, lines = append(rules, c.rule), append(lines, c.line)
		if len(d.mistakes) >= maxMistakes {
			break
		}
	}
	return rules, lines
}

// checked is one rule of a rules file.
type checked struct {
	rule     Rule
	line     int // of the id
	readable bool
	mistakes []Mistake
}

// check yields the rules in items by their indexes. Those of one's own file are
// checked ahead and at the same time: there may be thousands.
func (d *decoder) check(ctx context.Context, items []*yaml.Node, limits bounds) iter.Seq2[int, checked] {
	if !limits.own {
		shared := &trials{ctx: ctx, left: Budget}
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
				all[i] = d.checkOne(i, items[i], &trials{ctx: ctx, left: Budget})
			}
		})
	}
	workers.Wait()
	return slices.All(all)
}

// checkOne reads and validates the rule with index i. It changes nothing in d.
func (d *decoder) checkOne(i int, item *yaml.Node, t *trials) checked {
	own := decoder{lines: d.lines}
	r, at := own.rule(item)
	r.Origin, r.Scope = OriginRulesFile, ScopeRepo
	if !at.broken {
		for _, v := range violations(r, t) {
			own.fail(at.line(v.Field), "rules[%d].%s: %s", i, v.Field, v.Description)
		}
	}
	return checked{rule: r, line: d.line(at.line("id")), readable: !at.broken, mistakes: own.mistakes}
}
