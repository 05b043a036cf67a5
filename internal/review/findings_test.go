package review_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// completed makes a complete review with n findings of `custom/r`.
func completed(t *testing.T, b *bundle, n int) string {
	t.Helper()
	b.dispatcher(t, nil)
	id := b.create(t)
	o := finding.Result{Summary: finding.Summary{rule.High: n}}
	for i := range n {
		o.Findings = append(o.Findings, finding.Finding{
			RuleID: "custom/r", Severity: rule.High, Confidence: rule.ConfidenceMedium, File: fmt.Sprintf("f%04d", i), Line: 1, Fingerprint: fmt.Sprint(i),
		})
	}
	b.scanner.next(t).end(o, nil)
	b.await(t, id)
	return id
}

func TestFindingsTokensBelongToTheirFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := completed(t, b, 3)
	in := review.FindingsInput{ReviewID: id, PageSize: 1}
	_, token, err := b.service.Findings(t.Context(), org, in)
	require.NoError(t, err)
	require.NotEmpty(t, token)
	in.PageToken = token
	in.PageSize = 2 // may change on the way
	_, _, err = b.service.Findings(t.Context(), org, in)
	require.NoError(t, err)

	for name, change := range map[string]func(*review.FindingsInput){
		"review":   func(in *review.FindingsInput) { in.ReviewID = "rev_other" },
		"kind":     func(in *review.FindingsInput) { in.Kind = finding.KindFixed },
		"severity": func(in *review.FindingsInput) { in.MinSeverity = rule.Info },
		"rule":     func(in *review.FindingsInput) { in.RuleID = "r" },
		"file":     func(in *review.FindingsInput) { in.File = "f0001" },
		"state":    func(in *review.FindingsInput) { in.State = finding.StateNew },
		"no token": func(in *review.FindingsInput) { in.PageToken = "x" },
		"a place before all": func(in *review.FindingsInput) {
			in.PageToken = base64.RawURLEncoding.EncodeToString([]byte("-1.00000000"))
		},
	} {
		other := in
		change(&other)
		_, _, err := b.service.Findings(t.Context(), org, other)
		assert.Equal(t, []string{"page_token"}, violations(t, err), name)
	}

	for _, size := range []int{-1, review.MaxFindingsPage + 1} {
		_, _, err := b.service.Findings(t.Context(), org, review.FindingsInput{ReviewID: id, PageSize: size})
		assert.Equal(t, []string{"page_size"}, violations(t, err))
	}

	_, _, err = b.service.Findings(t.Context(), "other", review.FindingsInput{ReviewID: id})
	assert.Equal(t, errs.ReasonReviewNotFound, errs.ReasonOf(err))
}

func FuzzFindingsToken(f *testing.F) {
	b := &bundle{service: review.NewService(nothing{}, organizations{}, review.NewNotifier(), &scanner{}, 1)}
	f.Add("MTAwLjAwMDAwMDAw")
	f.Add("")
	f.Add("x.y")
	f.Fuzz(func(t *testing.T, token string) {
		if token == "" {
			return
		}
		_, _, err := b.service.Findings(t.Context(), org, review.FindingsInput{ReviewID: "rev_1", PageToken: token})
		if err != nil {
			assert.Equal(t, []string{"page_token"}, violations(t, err))
		}
	})
}

// nothing is a store without findings.
type nothing struct{ review.Reviews }

func (nothing) ListFindings(_ context.Context, _, _ string, f review.FindingFilter) (review.FindingPage, error) {
	if f.After < 1 || f.After > 2*review.MaxFindings {
		return review.FindingPage{}, fmt.Errorf("a place %d", f.After)
	}

	return review.FindingPage{}, nil
}
