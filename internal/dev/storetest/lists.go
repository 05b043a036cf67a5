package storetest

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/page"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// headed is an outcome of a head commit.
func headed(title, author string, o finding.Outcome) finding.Result {
	return finding.Result{
		HeadTitle: title, HeadAuthor: author, Verdict: finding.Verdict{Outcome: o, Threshold: rule.High},
	}
}

// standing makes reviews in each state, a second apart: rev_1 to rev_7.
func standing(t *testing.T, h Harness) (begin time.Time) {
	begin = h.Clock.Stored()
	add := func(id, repo string, number int32) review.NewReview {
		n := newReview(acme, id)
		n.Repo, n.PRNumber, n.CreatedBy = repo, number, "key:"+repo

		return n
	}
	finishOf(t, h, add("rev_1", "acme/shop", 7), headed("Add a cart: 100% größer", "Ann", finding.Fail))
	finishOf(t, h, add("rev_2", "acme/shop", 17), headed("ADD nothing_new", "Bob", finding.Pass))
	finishOf(t, h, add("rev_3", "acme/site", 7), headed(`C:\new "quoted"`, "Ann", finding.Incomplete))
	accept(t, h, add("rev_4", "acme/site", 8))
	require.NoError(t, h.Store.Fail(t.Context(), claim(t, h), review.Failure{Code: "x", Message: "y"}))
	h.Clock.Advance(time.Second)
	accept(t, h, add("rev_5", "acme/site", 9))
	cancel(t, h, acme, "rev_5")
	h.Clock.Advance(time.Second)
	accept(t, h, add("rev_6", "acme/site", 10))
	claim(t, h)
	h.Clock.Advance(time.Second)
	accept(t, h, add("rev_7", "acme/site", 11))
	create(t, h, other, "rev_other")

	return begin
}

func searchedReviews(t *testing.T, h Harness) {
	begin := standing(t, h)
	words := func(words ...string) review.Filter { return review.Filter{Words: words} }
	tests := map[string]struct {
		filter review.Filter
		want   []string
	}{
		"a word of the title":   {words("cart"), []string{"rev_1"}},
		"in any case":           {words("add"), []string{"rev_2", "rev_1"}},
		"of any alphabet":       {words("größer"), []string{"rev_1"}},
		"the author":            {words("ann"), []string{"rev_3", "rev_1"}},
		"the number":            {words("#7"), []string{"rev_3", "rev_1"}},
		"repository and number": {words("shop#17"), []string{"rev_2"}},
		"all words":             {words("ann", "shop", "add", "cart", "7"), []string{"rev_1"}},
		"no wildcards":          {words("%"), []string{"rev_1"}},
		"nor this":              {words("_"), []string{"rev_2"}},
		"a backslash":           {words(`\`), []string{"rev_3"}},
		"a quote":               {words(`"quoted"`), []string{"rev_3"}},
		"odd bytes":             {words("a\x00\xff"), []string{}},
		"one that waits":        {words("acme/site#11"), []string{"rev_7"}},
		"verdict":               {review.Filter{Outcome: finding.Pass}, []string{"rev_2"}},
		"running":               {review.Filter{Standing: review.Running}, []string{"rev_7", "rev_6"}},
		"not scanned":           {review.Filter{Standing: review.NotScanned}, []string{"rev_5", "rev_4"}},
		"since":                 {review.Filter{Since: begin.Add(5 * time.Second)}, []string{"rev_7", "rev_6"}},
		"until":                 {review.Filter{Until: begin.Add(time.Second)}, []string{"rev_1"}},
		"an odd creator":        {review.Filter{CreatedBy: "a\x00\xff"}, []string{}},
		"words and state":       {review.Filter{Words: []string{"site"}, Outcome: finding.Incomplete}, []string{"rev_3"}},
	}
	for name, tc := range tests {
		tc.filter.Limit = 10
		assert.Equal(t, tc.want, ids(list(t, h, acme, tc.filter)), name)

		all := list(t, h, acme, tc.filter)
		for i := range all {
			f := tc.filter
			f.Limit, f.After = 1, page.Cursor{At: all[i].CreatedAt, ID: all[i].ID}
			assert.Equal(t, ids(all[i+1:min(i+2, len(all))]), ids(list(t, h, acme, f)), "%s, after %d", name, i)
		}
	}
}

func countedReviews(t *testing.T, h Harness) {
	begin := standing(t, h)
	type counts = map[review.Standing]int
	counted := func(f review.Filter) counts {
		got, partial, err := h.Store.CountReviews(t.Context(), acme, f)
		require.NoError(t, err)
		assert.False(t, partial)
		maps.DeleteFunc(got, func(_ review.Standing, n int) bool { return n == 0 })

		return got
	}
	assert.Equal(t, counts{
		review.Failing: 1, review.Passing: 1, review.Unsure: 1, review.Running: 2, review.NotScanned: 2,
	}, counted(review.Filter{}))
	assert.Equal(t, counts{review.Running: 2}, counted(review.Filter{Since: begin.Add(5 * time.Second)}))
	assert.Equal(t, counts{review.Failing: 1}, counted(review.Filter{Until: begin.Add(time.Second)}))
	assert.Equal(t, counts{review.Failing: 1, review.Passing: 1}, counted(review.Filter{Repo: "acme/shop"}))
	assert.Equal(t, counts{review.Failing: 1, review.Unsure: 1}, counted(review.Filter{Words: []string{"ann"}}))
	assert.Equal(t, counts{review.Passing: 1}, counted(review.Filter{
		CreatedBy: "key:acme/shop", Since: begin.Add(time.Second), Until: begin.Add(time.Hour),
	}))
	assert.Equal(t, counts{review.Failing: 1, review.Unsure: 1}, counted(review.Filter{PRNumber: 7}))
	assert.Empty(t, counted(review.Filter{PRNumber: 99}))
	assert.Equal(t, counts{review.Failing: 1}, counted(review.Filter{
		PRNumber: 7, Repo: "acme/shop", Status: review.Complete, Outcome: finding.Fail, Words: []string{"ann"},
	}))
}

func headOfReviews(t *testing.T, h Harness) {
	create(t, h, acme, "rev_1")
	assert.Empty(t, state(t, h, acme, "rev_1").HeadTitle)
	require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), headed("Add a cart", "Ann", finding.Pass)))
	r := state(t, h, acme, "rev_1")
	assert.Equal(t, []string{"Add a cart", "Ann"}, []string{r.HeadTitle, r.HeadAuthor})

	// What the code host told goes before the commit.
	upsert(t, h, pullRequest(h, 7))
	create(t, h, acme, "rev_2")
	for range 2 {
		r = state(t, h, acme, "rev_2")
		assert.Equal(t, []string{"Grüße \uFFFD", "ann"}, []string{r.HeadTitle, r.HeadAuthor})
		assert.Equal(t, []string{"rev_2"}, ids(list(t, h, acme, review.Filter{Words: []string{"grüße"}, Limit: 9})))
		if !r.Status.Final() {
			require.NoError(t, h.Store.Finish(t.Context(), claim(t, h), headed("Add a cart", "Ann", finding.Pass)))
		}
	}
}
