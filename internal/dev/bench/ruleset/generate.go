package ruleset

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Generate makes n rules that cost as much to match as those of model: each is
// one of model's with other names in it, and every one of model is used as often
// as any other (give or take one). So the proportions of the shapes are those of
// model. A made-up name is replaced by one of the same words; a name that v has
// by one of v that is used about as often, is as often called, and is about as
// long; any other name by one composed of pieces of model's names that v doesn't
// have either. Weak patterns keep their form and get another number near theirs.
//
// The result depends on its arguments alone. It fails when model has a pattern
// of an unknown shape.
func Generate(model []Rule, n int, v *Vocabulary) ([]Rule, error) {
	g, err := newGenerator(model, v)
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, n)
	seen := map[string]bool{}
	for i := range rules {
		var pattern string
		for range 20 { // rules differ, where their shape leaves the room
			if pattern, err = g.another(i % len(model)); err != nil {
				return nil, err
			}
			if !seen[pattern] {
				break
			}
		}
		seen[pattern] = true
		rules[i] = Rule{ID: fmt.Sprintf("g%05d", i), Pattern: pattern}
	}
	return rules, nil
}

type generator struct {
	templates []template
	namer     *namer
	random    *rand.Rand
}

// template is a rule of the model, taken apart.
type template struct {
	shape   shape
	pattern string
	parts   []string
}

func newGenerator(model []Rule, v *Vocabulary) (*generator, error) {
	g := &generator{random: rand.New(rand.NewPCG(5000, 1))}
	known, names := shapes(), []string(nil)
	for _, r := range model {
		t, err := takeApart(known, r)
		if err != nil {
			return nil, err
		}
		g.templates = append(g.templates, t)
		for i, part := range t.parts {
			switch t.shape.roles[i] {
			case plainName, foldedName:
				names = append(names, strings.Split(part, `\.`)...)
			case alternatives:
				names = append(names, expand(part)...)
			}
		}
	}
	g.namer = newNamer(g.random, v, names)
	return g, nil
}

func takeApart(known []shape, r Rule) (template, error) {
	for _, s := range known {
		if parts := s.parts(r.Pattern); parts != nil {
			return template{shape: s, pattern: r.Pattern, parts: parts}, nil
		}
	}
	return template{}, fmt.Errorf("rule %s has an unknown shape: %s", r.ID, r.Pattern)
}

// Shapes counts the rules of each shape, by its name.
func Shapes(rules []Rule) (map[string]int, error) {
	n := map[string]int{}
	known := shapes()
	for _, r := range rules {
		t, err := takeApart(known, r)
		if err != nil {
			return nil, err
		}
		n[t.shape.name]++
	}
	return n, nil
}

// another makes a rule from a template.
func (g *generator) another(index int) (string, error) {
	t := g.templates[index]
	parts := slices.Clone(t.parts)
	for i, part := range parts {
		switch t.shape.roles[i] {
		case plainName:
			parts[i] = strings.ReplaceAll(g.namer.like(strings.ReplaceAll(part, `\.`, "."), false), ".", `\.`)
		case foldedName:
			parts[i] = g.namer.like(part, true)
		case alternatives:
			var all []string
			for _, word := range expand(part) {
				all = append(all, g.namer.like(word, false))
			}
			// Written as regexp/syntax does, as all of the model are.
			re, err := syntax.Parse("(?:"+strings.Join(all, "|")+")", syntax.Perl)
			if err != nil {
				return "", err
			}
			if parts[i] = re.String(); re.Op == syntax.OpAlternate {
				parts[i] = "(?:" + parts[i] + ")"
			}
		case tokenPrefix:
			parts[i] = g.namer.prefix(part)
		case amount:
			parts[i] = strconv.Itoa(g.near(part))
		case comparison:
			parts[i] = g.operator(part)
		case number:
			n := pow10(len(part))
			parts[i] = strconv.Itoa(n/10 + g.random.IntN(n-n/10))
		}
	}
	return t.shape.replace(t.pattern, parts), nil
}

// near is a number that differs from a number of text by at most a tenth, and by
// at most two where that is less.
func (g *generator) near(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1 // the shapes admit digits only
	}
	width := max(2, n/10)
	return max(1, n-width+g.random.IntN(2*width+1))
}

func (g *generator) operator(old string) string {
	choices := []string{"!=", "==", "<=", ">="}
	if old == "<<" || old == ">>" {
		choices = []string{"<<", ">>"}
	}
	return choices[g.random.IntN(len(choices))]
}
