package hosttest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// comments are the cases of comments that are made.
func comments() []test {
	return []test{
		{"comments on lines", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"), onLine(two, 3, "B"), onLine(three, Lines, "C"))
			require.Len(t, seen, 3)
			there := b.fake.Comments()
			require.Len(t, there, 3)
			for i, print := range []string{one, two, three} {
				assert.Equal(t, print, seen[i].Fingerprint)
				assert.Equal(t, seen[i].Ref, there[i].Ref)
				assert.Equal(t, there[i].Body, seen[i].Body)
				assert.False(t, seen[i].Closed)
				assert.Zero(t, seen[i].Replies)
				assert.Equal(t, Path, there[i].Path)
				assert.Equal(t, []int{3, 3, Lines}[i], there[i].Line)
			}
			assert.Empty(t, b.observe(t).Unsent)
		}},
		{"as many comments as one call takes", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, some(0, b.Limits().CommentsPerCall)...)
			assert.Len(t, seen, b.Limits().CommentsPerCall)
		}},
		{"more than 100 comments", nil, func(t *testing.T, b *bed) {
			each := min(30, b.Limits().CommentsPerCall)
			for i := 0; i < 120; i += each {
				b.do(t, codehost.Step{Action: codehost.AddComments, Comments: some(i, each)})
			}
			for i := range 60 {
				b.fake.Write(Comment{Author: Writer, Body: fmt.Sprint("talk ", i)})
			}
			b.do(t, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker + "\nend"})
			o := b.observe(t)
			assert.GreaterOrEqual(t, len(o.Comments), 120)
			assert.Len(t, o.Summaries, 1)
		}},
		{"texts of other people", nil, func(t *testing.T, b *bed) {
			text := "```go\nx := \"<b>\" // & @walter \u202e 日本語 🙂\n```\n| a | b |\n|---|---|\n"
			seen := b.add(t, onLine(one, 1, text))
			require.Len(t, seen, 1)
			assert.Equal(t, codehost.Marker(one)+"\n"+text, seen[0].Body)
		}},
		{"a text as long as can be", nil, func(t *testing.T, b *bed) {
			text := strings.Repeat("é", b.Limits().Body-len(codehost.Marker(one))-1)
			seen := b.add(t, onLine(one, 1, text))
			require.Len(t, seen, 1)
			assert.Equal(t, codehost.Marker(one)+"\n"+text, seen[0].Body)
		}},
	}
}

// changes are the cases of comments that are changed and deleted.
func changes() []test {
	return []test{
		{"changed comment", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"), onLine(two, 4, "B"))
			for range 2 {
				b.do(t, codehost.Step{
					Action: codehost.EditComment, OnLine: true, Ref: seen[0].Ref, Thread: seen[0].Thread,
					Body: codehost.Marker(one) + "\nnew",
				})
			}
			o := b.observe(t)
			require.Len(t, o.Comments, 2)
			assert.Equal(t, codehost.Marker(one)+"\nnew", o.Comments[0].Body)
			assert.Equal(t, seen[1], o.Comments[1])
		}},
		{"deleted comment", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"), onLine(two, 4, "B"))
			for range 2 {
				b.do(t, codehost.Step{
					Action: codehost.DeleteComment, OnLine: true, Ref: seen[0].Ref, Thread: seen[0].Thread,
				})
			}
			assert.Equal(t, seen[1:], b.observe(t).Comments)
			assert.Len(t, b.fake.Comments(), 1)
		}},
		{"comment that a person deleted", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"))
			b.fake.Delete(seen[0].Ref)
			assert.Empty(t, b.observe(t).Comments)
			for _, action := range []codehost.Action{codehost.EditComment, codehost.CloseComment, codehost.ReopenComment} {
				err := b.Do(t.Context(), b.pull(t), codehost.Step{
					Action: action, OnLine: true, Ref: seen[0].Ref, Thread: seen[0].Thread, Body: "x",
				})
				assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%s: %v", action, err)
			}
		}},
		{"summary", nil, func(t *testing.T, b *bed) {
			b.do(t, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker + "\n3 findings"})
			o := b.observe(t)
			require.Len(t, o.Summaries, 1)
			assert.Empty(t, o.Comments)
			assert.Empty(t, o.Summaries[0].Fingerprint)
			edit := codehost.Step{
				Action: codehost.EditSummary, Ref: o.Summaries[0].Ref, Body: codehost.SummaryMarker + "\nno findings",
			}
			b.do(t, edit)
			b.do(t, edit)
			o = b.observe(t)
			require.Len(t, o.Summaries, 1)
			assert.Equal(t, edit.Body, o.Summaries[0].Body)
			assert.Equal(t, edit.Ref, o.Summaries[0].Ref)
		}},
		{"two summaries", nil, func(t *testing.T, b *bed) {
			for range 2 {
				b.do(t, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker + "\nx"})
			}
			o := b.observe(t)
			require.Len(t, o.Summaries, 2)
			b.do(t, codehost.Step{Action: codehost.DeleteComment, Ref: o.Summaries[1].Ref})
			assert.Equal(t, o.Summaries[:1], b.observe(t).Summaries)
		}},
		{"summary that a person deleted", nil, func(t *testing.T, b *bed) {
			b.do(t, codehost.Step{Action: codehost.AddSummary, Body: codehost.SummaryMarker})
			ref := b.observe(t).Summaries[0].Ref
			b.fake.Delete(ref)
			assert.Empty(t, b.observe(t).Summaries)
			err := b.Do(t.Context(), b.pull(t), codehost.Step{Action: codehost.EditSummary, Ref: ref, Body: "x"})
			assert.Equal(t, codehost.Gone, codehost.FaultOf(err), "%v", err)
		}},
		{"forged markers", nil, forged},
	}
}

// forged checks that only what our own account wrote is taken for ours.
func forged(t *testing.T, b *bed) {
	for _, author := range []string{Stranger, Writer} {
		b.fake.Write(Comment{Author: author, Path: Path, Line: 1, Body: codehost.Marker(one)})
		b.fake.Write(Comment{Author: author, Body: codehost.SummaryMarker + "\nno findings"})
		b.fake.Write(Comment{Author: author, Body: codehost.Marker(two)})
	}
	o := b.observe(t)
	assert.Empty(t, o.Comments)
	assert.Empty(t, o.Summaries)
	assert.Empty(t, o.Unsent)

	seen := b.add(t, onLine(one, 1, "A"))
	require.Len(t, seen, 1)
	assert.Equal(t, codehost.Marker(one)+"\nA", seen[0].Body)

	b.fake.Write(Comment{Author: Account, Body: "something that a person wrote from our account"})
	b.fake.Write(Comment{Author: Account, Body: "> " + codehost.SummaryMarker})
	o = b.observe(t)
	assert.Len(t, o.Comments, 1)
	assert.Empty(t, o.Summaries)
}

// some are n comments on lines.
func some(first, n int) []codehost.LineComment {
	out := make([]codehost.LineComment, n)
	for i := range out {
		out[i] = onLine(fmt.Sprintf("%032x", first+i+1), (first+i)%Lines+1, "text")
	}

	return out
}
