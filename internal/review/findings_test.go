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
			RuleID: "custom/r", Severity: rule.High, File: fmt.Sprintf("f%04d", i), Line: 1, Fingerprint: fmt.Sprint(i),
		})
	}
	b.scanner.next(t).end(o, nil)
	b.await(t, id)
	return id
}

func TestFindingsPageByPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := completed(t, b, 250)
	var files []string
	in := review.FindingsInput{ReviewID: id, RuleID: "r", State: finding.StateNew}
	for sizes := []int{100, 100, 50}; ; sizes = sizes[1:] {
		page, next, err := b.service.Findings(t.Context(), org, in)
		require.NoError(t, err)
		require.Len(t, page, sizes[0])
		for _, f := range page {
			files = append(files, f.File)
		}
		if next == "" {
			require.Len(t, sizes, 1)
			break
		}
		in.PageToken = next
	}

	require.Len(t, files, 250)
	assert.Equal(t, "f0249", files[249])
	assert.IsIncreasing(t, files)

	_, err := b.service.GetComplete(t.Context(), org, id)
	require.NoError(t, err)
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

func TestOnlyCompleteReviewsAreGiven(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.create(t)
	incomplete := func(word string) {
		t.Helper()
		_, err := b.service.GetComplete(t.Context(), org, id)
		assert.Equal(t, errs.ReasonReviewNotComplete, errs.ReasonOf(err))
		assert.Equal(t, errs.FailedPrecondition, errs.KindOf(err))
		assert.ErrorContains(t, err, word)
	}

	incomplete("queued; wait")
	_, err := b.service.Cancel(t.Context(), org, id)
	require.NoError(t, err)
	incomplete("canceled, so")
	_, err = b.service.GetComplete(t.Context(), org, "rev_none")
	assert.Equal(t, errs.NotFound, errs.KindOf(err))
}

// Only what was fixed has the state fixed, so who asks for that state means it.
func TestStateImpliesKind(t *testing.T) {
	t.Parallel()
	for in, want := range map[review.FindingsInput]finding.Kind{
		{}:                          finding.KindReported,
		{State: finding.StateNew}:   finding.KindReported,
		{State: finding.StateFixed}: finding.KindFixed,
		{Kind: finding.KindFixed}:   finding.KindFixed,
		{Kind: finding.KindReported, State: finding.StateFixed}:   finding.KindReported,
		{Kind: finding.KindSuppressed, State: finding.StateFixed}: finding.KindSuppressed,
	} {
		store := &recording{}
		service := review.NewService(store, policy{}, review.NewNotifier(), 1)
		_, token, err := service.Findings(t.Context(), org, in)
		require.NoError(t, err)
		in.Kind, in.PageToken = want, token
		_, _, err = service.Findings(t.Context(), org, in)
		require.NoError(t, err, "the same filters, said in full")
		assert.Equal(t, []finding.Kind{want, want}, store.kinds)
	}
}

// recording is a store that has another page.
type recording struct {
	review.Reviews
	kinds []finding.Kind
}

func (r *recording) ListFindings(_ context.Context, _, _ string, f review.FindingFilter) (review.FindingPage, error) {
	r.kinds = append(r.kinds, f.Kind)
	return review.FindingPage{Next: 1}, nil
}

func FuzzFindingsToken(f *testing.F) {
	b := &bundle{service: review.NewService(nothing{}, policy{}, review.NewNotifier(), 1)}
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
