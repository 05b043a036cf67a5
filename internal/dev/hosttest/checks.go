package hosttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// check is one of ours on a commit.
func check(sha string, v codehost.Verdict) codehost.Check {
	return codehost.Check{
		SHA: sha, ReviewID: "rev_1", Verdict: v, Title: "Title of " + string(v), URL: "https://prwarden.example.com/r/1",
	}
}

// checks are the cases of checks.
func checks() []test {
	return []test{
		{"no check", nil, func(t *testing.T, b *bed) {
			assert.Nil(t, b.observe(t).Check)
		}},
		{"each verdict", nil, func(t *testing.T, b *bed) {
			for _, v := range []codehost.Verdict{codehost.Pending, codehost.Success, codehost.Failure, codehost.Broken} {
				b.do(t, codehost.Step{Action: codehost.SetCheck, Check: check(Head, v)})
				there := b.fake.Check(Head)
				require.NotNil(t, there)
				assert.Equal(t, "Title of "+string(v), there.Title)
				if v == codehost.Broken { // some hosts have one word for both
					assert.Contains(t, []codehost.Verdict{codehost.Broken, codehost.Failure}, there.Verdict)
				} else {
					assert.Equal(t, v, there.Verdict)
				}

				seen := b.observe(t).Check
				require.NotNil(t, seen)
				assert.Equal(t, there.Verdict, seen.Verdict)
				assert.Equal(t, "Title of "+string(v), seen.Title)
				assert.Equal(t, Head, seen.SHA)
			}
		}},
		{"changed check", nil, func(t *testing.T, b *bed) {
			b.do(t, codehost.Step{Action: codehost.SetCheck, Check: check(Head, codehost.Pending)})
			final := check(Head, codehost.Failure)
			final.Ref = b.observe(t).Check.Ref
			b.do(t, codehost.Step{Action: codehost.SetCheck, Check: final})
			b.do(t, codehost.Step{Action: codehost.SetCheck, Check: final})
			assert.Equal(t, codehost.Failure, b.fake.Check(Head).Verdict)
			assert.Equal(t, codehost.Failure, b.observe(t).Check.Verdict)
		}},
		{"check of a commit that is no head any more", nil, func(t *testing.T, b *bed) {
			old := b.pull(t)
			b.fake.Push(Base, false)
			require.NoError(t, b.Do(t.Context(), old, codehost.Step{
				Action: codehost.SetCheck, Check: check(Head, codehost.Outdated),
			}))
			assert.NotEqual(t, codehost.Success, b.fake.Check(Head).Verdict)
			assert.NotEqual(t, codehost.Pending, b.fake.Check(Head).Verdict)
			assert.Nil(t, b.observe(t).Check)
		}},
		{"check of a commit that is not known", nil, func(t *testing.T, b *bed) {
			old := b.pull(t)
			b.fake.Push(Base, true)
			err := b.Do(t.Context(), old, codehost.Step{Action: codehost.SetCheck, Check: check(Head, codehost.Success)})
			assert.Equal(t, codehost.Stale, codehost.FaultOf(err), "%v", err)
		}},
		{"texts of a check at the limit", nil, func(t *testing.T, b *bed) {
			full := check(Head, codehost.Failure)
			full.Title = strings.Repeat("ü", b.Limits().Title)
			full.Summary = strings.Repeat("ß", b.Limits().Summary)
			b.do(t, codehost.Step{Action: codehost.SetCheck, Check: full})
			assert.Equal(t, full.Title, b.fake.Check(Head).Title)
		}},
		{"annotations", func(t Traits) bool { return t.Annotations }, func(t *testing.T, b *bed) {
			b.do(t, codehost.Step{Action: codehost.SetCheck, Check: check(Head, codehost.Pending)})
			each := b.Limits().AnnotationsPerCall
			for call := range 3 {
				step := codehost.Step{Action: codehost.AddAnnotations, Check: *b.observe(t).Check}
				for i := range each {
					step.Annotations = append(step.Annotations, annotation(call*each+i))
				}
				b.do(t, step)
				assert.Equal(t, (call+1)*each, b.observe(t).Annotations)
				assert.Equal(t, (call+1)*each, b.fake.Annotations(Head))
			}
		}},
		{"no annotations", func(t Traits) bool { return !t.Annotations }, func(t *testing.T, b *bed) {
			assert.Zero(t, b.Limits().AnnotationsPerCall)
			assert.Zero(t, b.observe(t).Annotations)
		}},
	}
}

func annotation(n int) codehost.Annotation {
	return codehost.Annotation{
		Fingerprint: fmt.Sprintf("%032x", n+1), Path: Path, Line: n%Lines + 1, EndLine: n%Lines + 1, Column: 1,
		EndColumn: 5, Severity: "high", RuleID: "rule", Message: "Don't – 不要",
	}
}
