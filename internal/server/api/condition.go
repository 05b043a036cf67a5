package api

import (
	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/structure"
)

// setStructure gives a message of a rule what a structure rule asks.
func setStructure(out *prwardenv1.Rule, r rule.Rule) {
	c := toCondition(&r.Structure)
	out.Any, out.All, out.Not, out.Inside, out.NotInside = c.Any, c.All, c.Not, c.Inside, c.NotInside
	out.Has, out.Depth, out.Where, out.Focus = c.Has, c.Depth, c.Where, c.Focus
}

// setTaint gives a message of a rule what a taint rule asks.
func setTaint(out *prwardenv1.Rule, t rule.Taint) {
	out.Sources, out.Sinks, out.Sanitizers = toConditions(t.Sources), toConditions(t.Sinks), toConditions(t.Sanitizers)
}

// followed is what a message asks like a taint rule.
type followed interface {
	GetSources() []*prwardenv1.Condition
	GetSinks() []*prwardenv1.Condition
	GetSanitizers() []*prwardenv1.Condition
}

// fromTaint reads what a taint rule asks.
func fromTaint(m followed) rule.Taint {
	return rule.Taint{
		Sources: fromConditionList(m.GetSources()), Sinks: fromConditionList(m.GetSinks()),
		Sanitizers: fromConditionList(m.GetSanitizers()),
	}
}

func toCondition(c *structure.Condition) *prwardenv1.Condition {
	if c == nil {
		return nil
	}

	return &prwardenv1.Condition{
		Pattern: text(c.Pattern), Any: toConditions(c.Any), All: toConditions(c.All), Not: toCondition(c.Not),
		Inside: toCondition(c.Inside), NotInside: toCondition(c.NotInside), Has: toCondition(c.Has), Depth: text(c.Depth),
		Where: toTests(c.Where), Focus: text(c.Focus),
	}
}

func toConditions(list []structure.Condition) []*prwardenv1.Condition {
	return each(list, func(c structure.Condition) *prwardenv1.Condition { return toCondition(&c) })
}

func toTests(where map[string]structure.Test) map[string]*prwardenv1.Condition_Test {
	if len(where) == 0 {
		return nil
	}
	all := map[string]*prwardenv1.Condition_Test{}
	for name, t := range where {
		all[text(name)] = toTest(t)
	}

	return all
}

func toTest(t structure.Test) *prwardenv1.Condition_Test {
	out := &prwardenv1.Condition_Test{
		Regex: text(t.Regex), Any: each(t.Any, toTest), Has: toCondition(t.Has), Depth: text(t.Depth), Is: text(t.Is),
	}
	if t.Not != nil {
		out.Not = toTest(*t.Not)
	}
	if t.Entropy != nil {
		out.Entropy = &prwardenv1.Condition_Test_Entropy{Min: t.Entropy.Min}
	}

	return out
}

// asked is what a message asks like a structure rule.
type asked interface {
	GetAny() []*prwardenv1.Condition
	GetAll() []*prwardenv1.Condition
	GetNot() *prwardenv1.Condition
	GetInside() *prwardenv1.Condition
	GetNotInside() *prwardenv1.Condition
	GetHas() *prwardenv1.Condition
	GetDepth() string
	GetWhere() map[string]*prwardenv1.Condition_Test
	GetFocus() string
}

// fromStructure reads what a structure rule asks beside its pattern.
func fromStructure(m asked) structure.Condition {
	c := structure.Condition{
		Any: fromConditionList(m.GetAny()), All: fromConditionList(m.GetAll()), Not: fromCondition(m.GetNot()),
		Inside: fromCondition(m.GetInside()), NotInside: fromCondition(m.GetNotInside()), Has: fromCondition(m.GetHas()),
		Depth: m.GetDepth(), Focus: m.GetFocus(),
	}
	for name, t := range m.GetWhere() {
		if c.Where == nil {
			c.Where = map[string]structure.Test{}
		}
		c.Where[name] = fromTest(t)
	}

	return c
}

func fromCondition(m *prwardenv1.Condition) *structure.Condition {
	if m == nil {
		return nil
	}
	c := fromStructure(m)
	c.Pattern = m.GetPattern()

	return &c
}

func fromConditionList(list []*prwardenv1.Condition) (all []structure.Condition) {
	for _, m := range list {
		if m == nil {
			m = &prwardenv1.Condition{}
		}
		all = append(all, *fromCondition(m))
	}

	return all
}

func fromTest(m *prwardenv1.Condition_Test) structure.Test {
	t := structure.Test{Regex: m.GetRegex(), Has: fromCondition(m.GetHas()), Depth: m.GetDepth(), Is: m.GetIs()}
	for _, sub := range m.GetAny() {
		t.Any = append(t.Any, fromTest(sub))
	}
	if m.GetNot() != nil {
		not := fromTest(m.GetNot())
		t.Not = &not
	}
	if e := m.GetEntropy(); e != nil {
		t.Entropy = &structure.Entropy{Min: e.GetMin()}
	}

	return t
}
