package hosttest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// closing is a step that closes or reopens a comment.
func closing(action codehost.Action, c codehost.ObservedComment, text string) codehost.Step {
	return codehost.Step{
		Action: action, OnLine: true, Ref: c.Ref, Thread: c.Thread, Body: codehost.Marker(c.Fingerprint) + "\n" + text,
	}
}

// threads are the cases of threads that are closed and answered.
func threads() []test {
	return []test{
		{"closed comment", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"), onLine(two, 4, "B"))
			for range 2 {
				b.do(t, closing(codehost.CloseComment, seen[0], "fixed"))
			}
			o := b.observe(t)
			require.Len(t, o.Comments, 2)
			assert.True(t, o.Comments[0].Closed)
			assert.True(t, o.Comments[0].ClosedByUs)
			assert.Equal(t, codehost.Marker(one)+"\nfixed", o.Comments[0].Body)
			assert.Equal(t, seen[1], o.Comments[1])
		}},
		{"reopened comment", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"))
			b.do(t, closing(codehost.CloseComment, seen[0], "fixed"))
			for range 2 {
				b.do(t, closing(codehost.ReopenComment, seen[0], "again"))
			}
			o := b.observe(t)
			require.Len(t, o.Comments, 1)
			assert.False(t, o.Comments[0].Closed)
			assert.False(t, o.Comments[0].ClosedByUs)
			assert.Equal(t, codehost.Marker(one)+"\nagain", o.Comments[0].Body)
		}},
		{"thread that a person closed", func(t Traits) bool { return t.Closes }, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"))
			b.fake.Close(seen[0].Ref, Writer)
			o := b.observe(t)
			require.Len(t, o.Comments, 1)
			assert.True(t, o.Comments[0].Closed)
			assert.False(t, o.Comments[0].ClosedByUs)
		}},
		{"thread with answers", func(t Traits) bool { return t.Replies }, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"), onLine(two, 4, "B"))
			b.fake.Reply(seen[0].Ref, Writer)
			b.fake.Reply(seen[0].Ref, Stranger)
			o := b.observe(t)
			require.Len(t, o.Comments, 2)
			assert.Equal(t, 2, o.Comments[0].Replies)
			assert.Zero(t, o.Comments[1].Replies)
		}},
	}
}

// leftovers are the cases of what calls leave behind that fail.
func leftovers() []test {
	return []test{
		{"review that was left unsent", func(t Traits) bool { return t.Unsent }, func(t *testing.T, b *bed) {
			b.add(t, onLine(one, 3, "A"))
			b.fake.Leave(40)
			o := b.observe(t)
			assert.Len(t, o.Comments, 1)
			require.Len(t, o.Unsent, 1)
			for range 2 {
				b.do(t, codehost.Step{Action: codehost.DiscardUnsent, Ref: o.Unsent[0]})
			}
			o = b.observe(t)
			assert.Empty(t, o.Unsent)
			assert.Len(t, o.Comments, 1)
			assert.Len(t, b.fake.Comments(), 1)
		}},
		{"comments beside an unsent review", func(t Traits) bool { return t.Unsent }, func(t *testing.T, b *bed) {
			b.fake.Leave(40)
			assert.Len(t, b.add(t, onLine(one, 3, "A")), 1)
			assert.Len(t, b.fake.Comments(), 1)
		}},
		{"line beyond the end of the file", nil, func(t *testing.T, b *bed) {
			some := []codehost.LineComment{onLine(one, 3, "A"), onLine(two, Lines+1, "B"), onLine(three, 4, "C")}
			if b.Limits().CommentsPerCall == 1 {
				some = some[1:2]
			}
			err := b.Do(t.Context(), b.pull(t), codehost.Step{Action: codehost.AddComments, Comments: some})
			assert.Equal(t, codehost.BadLine, codehost.FaultOf(err), "%v", err)
			o := b.observe(t)
			assert.Empty(t, o.Unsent)
			assert.Empty(t, b.fake.Comments(), "all or nothing")
		}},
		{"comments on a head that is gone", nil, func(t *testing.T, b *bed) {
			old := b.pull(t)
			b.fake.Push(Base, true)
			err := b.Do(t.Context(), old, codehost.Step{
				Action: codehost.AddComments, Comments: []codehost.LineComment{onLine(one, 3, "A")},
			})
			assert.Equal(t, codehost.Stale, codehost.FaultOf(err), "%v", err)
			assert.Empty(t, b.fake.Comments())
			assert.Len(t, b.add(t, onLine(one, 3, "A")), 1, "nothing in the way of the next")
		}},
		{"comments stay when the head moves", nil, func(t *testing.T, b *bed) {
			seen := b.add(t, onLine(one, 3, "A"))
			b.fake.Push(Base, false)
			assert.Equal(t, seen, b.observe(t).Comments)
			b.do(t, closing(codehost.CloseComment, seen[0], "fixed"))
			assert.True(t, b.observe(t).Comments[0].Closed)
		}},
		{"reactions", func(t Traits) bool { return !t.NoReactions }, func(t *testing.T, b *bed) {
			c := codehost.Comment{ID: string(b.fake.Write(Comment{Author: Writer, Body: "/prwarden rescan"}))}
			for _, r := range []codehost.Reaction{codehost.Seen, codehost.Done, codehost.Refused} {
				for range 2 {
					require.NoError(t, b.Acknowledge(t.Context(), b.pull(t), c, r))
				}
				assert.Contains(t, b.fake.Reactions(codehost.Ref(c.ID)), string(r))
			}
			assert.Len(t, b.fake.Reactions(codehost.Ref(c.ID)), 3)
		}},
	}
}
