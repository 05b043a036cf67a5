package policy

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
)

// Publish says what is published in the pull requests of connections.
type Publish struct {
	Check       bool     `json:"check" yaml:"check"`               // a check, commit status or report
	Comments    string   `json:"comments" yaml:"comments"`         // on lines: CommentsNew or PublishNone
	CommentsMin string   `json:"comments_min" yaml:"comments_min"` // the least severe finding that gets one
	CommentsMax int      `json:"comments_max" yaml:"comments_max"` // in one pull request, over all its time
	Summary     string   `json:"summary" yaml:"summary"`           // SummaryFindings or PublishNone
	Drafts      bool     `json:"drafts" yaml:"drafts"`             // comment on drafts, too
	ForksMax    int      `json:"forks_comments_max" yaml:"forks_comments_max"`
	For         []ForOne `json:"repositories,omitempty" yaml:"repositories,omitempty"`
}

// ForOne changes what is published in some repositories. What is not said stays; later
// ones go before earlier ones.
type ForOne struct {
	Match       []string `json:"match" yaml:"match"` // globs of `owner/name`
	Check       *bool    `json:"check,omitempty" yaml:"check,omitempty"`
	Comments    string   `json:"comments,omitempty" yaml:"comments,omitempty"`
	CommentsMin string   `json:"comments_min,omitempty" yaml:"comments_min,omitempty"`
	CommentsMax *int     `json:"comments_max,omitempty" yaml:"comments_max,omitempty"`
	Summary     string   `json:"summary,omitempty" yaml:"summary,omitempty"`
	Drafts      *bool    `json:"drafts,omitempty" yaml:"drafts,omitempty"`
	ForksMax    *int     `json:"forks_comments_max,omitempty" yaml:"forks_comments_max,omitempty"`
}

// The words of Publish.
const (
	CommentsNew     = "new"      // once for each finding, when it is new in the pull request
	SummaryFindings = "findings" // once there is a finding
	PublishNone     = "none"
)

// Bounds of Publish.
const (
	MaxComments     = rule.MaxComments
	MaxPublishFor   = 100 // entries of Publish.For
	MaxPublishMatch = 100 // globs of each
)

// DefaultPublish is what is published when a policy says nothing else. Comments make
// notifications, so there are few.
func DefaultPublish() Publish {
	return Publish{
		Check: true, Comments: CommentsNew, CommentsMin: rule.High.String(), CommentsMax: 20,
		Summary: SummaryFindings, ForksMax: 5,
	}
}

// In is what is published in a repository.
func (p Publish) In(repo string) Publish {
	for _, o := range p.For {
		if slices.ContainsFunc(o.Match, func(glob string) bool { return doublestar.MatchUnvalidated(glob, repo) }) {
			p.Change(o)
		}
	}
	p.For = nil

	return p
}

// Quieter is what is published in a repository that wants less.
func (p Publish) Quieter(w rule.Publish) Publish {
	if w.NoComments {
		p.Comments = PublishNone
	}
	if w.NoSummary {
		p.Summary = PublishNone
	}
	p.Drafts = p.Drafts && !w.NoDrafts
	if least, ok := rule.ParseSeverity(p.CommentsMin); ok && w.CommentsMin != 0 {
		p.CommentsMin = min(least, w.CommentsMin).String()
	}
	if w.CommentsMax != nil {
		p.CommentsMax = min(p.CommentsMax, max(*w.CommentsMax, 0))
	}
	if w.ForksMax != nil {
		p.ForksMax = min(p.ForksMax, max(*w.ForksMax, 0))
	}

	return p
}

// Louder says, by the keys of a rules file, what is published of that of which a
// repository wants more, which changes nothing.
func (p Publish) Louder(w rule.Publish) map[string]string {
	out := map[string]string{}
	if least, ok := rule.ParseSeverity(p.CommentsMin); ok && w.CommentsMin > least {
		out["comments_min"] = p.CommentsMin
	}
	if w.CommentsMax != nil && *w.CommentsMax > p.CommentsMax {
		out["comments_max"] = strconv.Itoa(p.CommentsMax)
	}
	if w.ForksMax != nil && *w.ForksMax > p.ForksMax {
		out["forks_comments_max"] = strconv.Itoa(p.ForksMax)
	}

	return out
}

// Change sets what an entry says, whatever it matches.
func (p *Publish) Change(o ForOne) {
	set(&p.Check, o.Check)
	set(&p.Drafts, o.Drafts)
	set(&p.CommentsMax, o.CommentsMax)
	set(&p.ForksMax, o.ForksMax)
	word(&p.Comments, o.Comments)
	word(&p.CommentsMin, o.CommentsMin)
	word(&p.Summary, o.Summary)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func word(to *string, from string) {
	if from != "" {
		*to = from
	}
}

// publish checks what is published.
func (v *validator) publish(p Publish) {
	v.publishIn("publish", p)
	if len(p.For) > MaxPublishFor {
		v.Add("publish.repositories", "has %d entries; at most %d are allowed", len(p.For), MaxPublishFor)
		return
	}
	for i, o := range p.For {
		field := fmt.Sprintf("publish.repositories[%d]", i)
		if n := len(o.Match); n == 0 || n > MaxPublishMatch {
			v.Add(field+".match", "has %d globs; 1 to %d are allowed", n, MaxPublishMatch)
		}
		for j, glob := range o.Match {
			if err := match.CheckGlob(glob); err != nil {
				v.Add(fmt.Sprintf("%s.match[%d]", field, j), "%v", err)
			}
		}
		whole := DefaultPublish()
		whole.Change(o)
		v.publishIn(field, whole)
	}
}

func (v *validator) publishIn(field string, p Publish) {
	if p.Comments != CommentsNew && p.Comments != PublishNone {
		v.Add(field+".comments", "must be one of %s, %s", CommentsNew, PublishNone)
	}
	if p.Summary != SummaryFindings && p.Summary != PublishNone {
		v.Add(field+".summary", "must be one of %s, %s", SummaryFindings, PublishNone)
	}
	v.severity(field+".comments_min", p.CommentsMin)
	if p.CommentsMin == "" {
		v.Add(field+".comments_min", "is required; to have no comments set %s.comments to %s", field, PublishNone)
	}
	for name, n := range map[string]int{"comments_max": p.CommentsMax, "forks_comments_max": p.ForksMax} {
		if n < 0 || n > MaxComments {
			v.Add(field+"."+name, "must be from 0 to %d, not %d", MaxComments, n)
		}
	}
}
