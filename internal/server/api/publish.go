package api

import (
	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/policy"
)

func toPublish(p policy.Publish) *prwardenv1.Policy_Publish {
	most, forks := clamp(p.CommentsMax), clamp(p.ForksMax)

	return &prwardenv1.Policy_Publish{
		Check: &p.Check, Comments: &p.Comments, CommentsMin: toLevel(p.CommentsMin), CommentsMax: &most,
		Summary: &p.Summary, Drafts: &p.Drafts, ForksCommentsMax: &forks, Repositories: each(p.For, toPublishFor),
	}
}

func toPublishFor(o policy.ForOne) *prwardenv1.Policy_Publish_Repositories {
	return &prwardenv1.Policy_Publish_Repositories{
		Match: o.Match, Check: o.Check, Comments: given(o.Comments), CommentsMin: toLevel(o.CommentsMin),
		CommentsMax: narrow(o.CommentsMax), Summary: given(o.Summary), Drafts: o.Drafts,
		ForksCommentsMax: narrow(o.ForksMax),
	}
}

// fromPublish reads what is published. What is not given is as in the default policy.
func fromPublish(m *prwardenv1.Policy_Publish) policy.Publish {
	all := policy.DefaultPublish()
	all.Change(policy.ForOne{
		Check: m.Check, Comments: m.GetComments(), CommentsMin: fromSeverityWord(m.CommentsMin),
		CommentsMax: widen(m.CommentsMax), Summary: m.GetSummary(), Drafts: m.Drafts, ForksMax: widen(m.ForksCommentsMax),
	})
	for _, o := range m.GetRepositories() {
		all.For = append(all.For, policy.ForOne{
			Match: o.GetMatch(), Check: o.Check, Comments: o.GetComments(), CommentsMin: fromSeverityWord(o.CommentsMin),
			CommentsMax: widen(o.CommentsMax), Summary: o.GetSummary(), Drafts: o.Drafts, ForksMax: widen(o.ForksCommentsMax),
		})
	}

	return all
}

// narrow and widen are a number that may not be given.
func narrow(n *int) *int32 {
	if n == nil {
		return nil
	}
	small := clamp(*n)

	return &small
}

func widen(n *int32) *int {
	if n == nil {
		return nil
	}
	large := int(*n)

	return &large
}
