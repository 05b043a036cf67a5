package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// section is the text between the marks of the document.
func (r *measured) section() string {
	var out strings.Builder
	out.WriteString("\n")
	r.print(&out, enough)
	return out.String()
}

// print writes the report, with rules that have at least so many hits.
func (r *measured) print(out io.Writer, least int) {
	fmt.Fprintf(out, "Ruleset `%.12s`. \"In all\" is the share of hits that both readers found useful, "+
		"\"by projects\" the mean of the shares of projects with hits, one vote each; both with their 95 %% interval.\n\n",
		r.ruleset)
	for _, name := range []string{unseen, tuned} {
		if g := r.groups[name]; len(g.scans) > 0 {
			fmt.Fprintf(out, "### %s\n\n", map[string]string{
				unseen: "Projects that nobody had looked at", tuned: "Projects that the rules were tuned on",
			}[name])
			g.print(out)
		}
	}

	fmt.Fprintf(out, "### Rules\n\n")
	if least > 1 {
		fmt.Fprintf(out, "Those with %d hits or more, and the confidence that their precision allows:\n\n", least)
	}
	r.rules(least).print(out)
}

const day = "2 January 2006"

// print writes what was measured on one group.
func (g *group) print(out io.Writer) {
	all := total(g.scans)
	from, to := g.scans[0].Time.Format(day), g.scans[len(g.scans)-1].Time.Format(day)
	days := "on " + from
	if from != to {
		days = "from " + from + " to " + to
	}
	fmt.Fprintf(out, "%d projects, scanned %s: %d merged pull requests with %d added lines. %s had a finding; "+
		"%s hits for 500 added lines. Not looked at completely: %s.\n\n", len(g.scans), days, all.Pulls, all.Added,
		share(all.Found, all.Pulls), all.density(), reasons(all.Incomplete))
	if all.Low > 0 {
		fmt.Fprintf(out, "%d findings of low confidence, which are hidden, count as not found.\n\n", all.Low)
	}

	g.precision().print(out)
	var pairs [][2]bool
	for _, h := range g.hits {
		pairs = append(pairs, h.said)
	}
	same, kappa := agreement(pairs)
	fmt.Fprintf(out, "The two readers agree on %.0f %% of the hits (Cohen's kappa %.2f).\n\n", 100*same, kappa)
	g.byProject().print(out)
}

// precision is a table with a row for each part of the hits.
func (g *group) precision() (t table) {
	t.add("hits", "useful", "in all", "interval", "projects", "by projects", "interval")
	g.row(&t, "all", func(judged) bool { return true })
	g.row(&t, "without dated rules", func(h judged) bool { return !h.Dated })
	g.row(&t, "critical and high", func(h judged) bool { return h.Severity == "critical" || h.Severity == "high" })
	for _, by := range []func(judged) string{
		func(h judged) string { return h.category() + "/" },
		func(h judged) string { return "severity " + h.Severity },
		func(h judged) string { return "in " + h.Language },
	} {
		for _, name := range namesOf(g.hits, by) {
			g.row(&t, name, func(h judged) bool { return by(h) == name })
		}
	}
	return t
}

// namesOf are the different values of a field, in order.
func namesOf(hits []judged, by func(judged) string) []string {
	names := map[string]bool{}
	for _, h := range hits {
		names[by(h)] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (g *group) row(t *table, name string, in func(judged) bool) {
	all, projects := ratio{}, map[string]ratio{}
	for _, h := range g.hits {
		if in(h) {
			all, projects[h.Project] = all.with(h), projects[h.Project].with(h)
		}
	}
	if all.all == 0 {
		t.add(name, "none", "", "", "", "", "")
		return
	}

	var precisions []float64
	for _, project := range slices.Sorted(maps.Keys(projects)) { // the bootstrap draws by their places
		precisions = append(precisions, projects[project].value())
	}
	mean, interval := vote(precisions)
	between := interval.String()
	if len(precisions) == 1 {
		between = "" // nothing says what another project would have given
	}
	t.add(name, all.String(), percent(all.value()), all.wilson().String(), fmt.Sprint(len(precisions)), percent(mean),
		between)
}

func (r ratio) with(h judged) ratio {
	if r.all++; h.useful() {
		r.useful++
	}
	return r
}

func (r ratio) String() string {
	if r.all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d", r.useful, r.all)
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }

func (g *group) byProject() (t table) {
	t.add("project", "pull requests", "with a finding", "useful")
	for _, s := range slices.SortedFunc(slices.Values(g.scans), func(a, b scanned) int {
		return cmp.Compare(strings.ToLower(a.Project), strings.ToLower(b.Project))
	}) {
		var all ratio
		for _, h := range g.hits {
			if h.Project == s.Project {
				all = all.with(h)
			}
		}
		t.add(s.Project, fmt.Sprint(s.Pulls), share(s.Found, s.Pulls), all.String())
	}
	return t
}

// rules is a table of rules: their precision, and the confidence that it allows.
func (r *measured) rules(least int) (t table) {
	t.add("rule", "unseen", "tuned", "precision", "confidence allowed", "it has")
	hits := func(group string) []judged { return slices.Concat(r.groups[group].hits, r.groups[group].low) }
	byRule := func(h judged) string { return h.Rule }
	for _, name := range namesOf(slices.Concat(hits(unseen), hits(tuned)), byRule) {
		parts, has := map[string]ratio{}, ""
		for group := range r.groups {
			for _, h := range hits(group) {
				if h.Rule == name {
					parts[group], has = parts[group].with(h), cmp.Or(h.Confidence, "none")
				}
			}
		}
		sum := ratio{parts[unseen].useful + parts[tuned].useful, parts[unseen].all + parts[tuned].all}
		if sum.all >= least {
			t.add("`"+name+"`", parts[unseen].String(), parts[tuned].String(), percent(sum.value()), sum.confidence(), has)
		}
	}
	return t
}
