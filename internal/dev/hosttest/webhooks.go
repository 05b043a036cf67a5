package hosttest

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// webhooks are the cases of deliveries.
func webhooks(traits Traits) []test {
	all := []test{
		{"signed delivery", nil, func(t *testing.T, b *bed) {
			h, body := b.fake.Deliver(Opened, Secret)
			id, err := b.Verify(h, body, secrets(Secret), time.Now())
			require.NoError(t, err)
			assert.NotEmpty(t, id)

			h, body = b.fake.Deliver(Opened, Secret)
			other, err := b.Verify(h, body, secrets(Secret), time.Now())
			require.NoError(t, err)
			assert.NotEqual(t, id, other)
		}},
		{"two secrets", nil, func(t *testing.T, b *bed) {
			h, body := b.fake.Deliver(Opened, Secret)
			_, err := b.Verify(h, body, secrets("the new one", Secret), time.Now())
			require.NoError(t, err)
		}},
		{"secrets that are wrong", nil, func(t *testing.T, b *bed) {
			h, body := b.fake.Deliver(Opened, Secret)
			for _, wrong := range [][][]byte{nil, {}, secrets(""), secrets("a", "b"), secrets(Secret + " ")} {
				_, err := b.Verify(h, body, wrong, time.Now())
				require.ErrorIs(t, err, codehost.ErrSignature, "%q", wrong)
			}
			h, body = b.fake.Deliver(Opened, "")
			_, err := b.Verify(h, body, secrets(""), time.Now())
			require.ErrorIs(t, err, codehost.ErrSignature, "an empty secret signs nothing")
		}},
		{"every bit of the body", nil, func(t *testing.T, b *bed) {
			h, body := b.fake.Deliver(Opened, Secret)
			for i := range len(body) * 8 {
				flipped := bytes.Clone(body)
				flipped[i/8] ^= 1 << (i % 8)
				_, err := b.Verify(h, flipped, secrets(Secret), time.Now())
				require.ErrorIs(t, err, codehost.ErrSignature, "bit %d", i)
			}
			for _, other := range [][]byte{nil, body[:len(body)-1], append(bytes.Clone(body), '\n')} {
				_, err := b.Verify(h, other, secrets(Secret), time.Now())
				require.ErrorIs(t, err, codehost.ErrSignature)
			}
		}},
		{"every bit of the signature", nil, everyBit},
		{"no headers", nil, func(t *testing.T, b *bed) {
			_, body := b.fake.Deliver(Opened, Secret)
			_, err := b.Verify(http.Header{}, body, secrets(Secret), time.Now())
			require.ErrorIs(t, err, codehost.ErrSignature)
		}},
		{"own comments can be told apart", nil, func(t *testing.T, b *bed) {
			a, err := b.Access(t.Context())
			require.NoError(t, err)
			for event, own := range map[Event]bool{OwnComment: true, Commented: false} {
				for _, hint := range b.hints(t, event) {
					assert.Equal(t, own, hint.Comment.AuthorID == a.ID, event)
				}
			}
		}},
		{"deliveries that make no sense", nil, func(t *testing.T, b *bed) {
			h, body := b.fake.Deliver(Opened, Secret)
			for _, bad := range []string{
				"", "null", "[]", "{", "{}", `""`, `{"action": 1}`, `{"pull_request": null, "repository": null}`,
				string(body[:100]),
			} {
				hints, _ := b.Hints(h, []byte(bad))
				assert.Empty(t, hints, bad)
			}
		}},
	}

	for _, event := range traits.Events {
		all = append(all, test{"delivery of " + string(event), nil, func(t *testing.T, b *bed) { b.hinted(t, event) }})
	}

	return all
}

func secrets(all ...string) (out [][]byte) {
	for _, s := range all {
		out = append(out, []byte(s))
	}

	return out
}

// everyBit checks that a delivery with a changed signature is refused. Those headers
// carry one in which the delivery's own signature, or a part of it, stands.
func everyBit(t *testing.T, b *bed) {
	h, body := b.fake.Deliver(Opened, Secret)
	_, other := b.fake.Deliver(Opened, "another secret")
	signed, _ := b.fake.Deliver(Opened, "another secret")
	require.NotEmpty(t, other)
	flips := 0
	for name := range h {
		value := h.Get(name)
		if !isSignature(name, value) {
			continue
		}
		assert.NotEqual(t, signed.Get(name), value)
		for i := range len(value) * 8 {
			changed := []byte(value)
			changed[i/8] ^= 1 << (i % 8)
			flipped := h.Clone()
			flipped.Set(name, string(changed))
			_, err := b.Verify(flipped, body, secrets(Secret), time.Now())
			require.ErrorIs(t, err, codehost.ErrSignature, "%s, bit %d", name, i)
			flips++
		}
	}
	assert.Positive(t, flips)
}

// isSignature tells whether a header has a signature that its host checks.
func isSignature(name, value string) bool {
	switch name {
	case "X-Hub-Signature": // of others than Bitbucket it is SHA-1
		return strings.HasPrefix(value, "sha256=")
	case "X-Gitea-Signature", "X-Forgejo-Signature", "X-Hub-Signature-256", "Webhook-Signature", "X-Gitlab-Token":
		return true
	}

	return false
}

// hints are those of a delivery.
func (b *bed) hints(t testing.TB, e Event) []codehost.Hint {
	t.Helper()
	h, body := b.fake.Deliver(e, Secret)
	_, err := b.Verify(h, body, secrets(Secret), time.Now())
	require.NoError(t, err)
	hints, err := b.Hints(h, body)
	require.NoError(t, err)
	return hints
}

// hinted checks what a delivery is taken for.
func (b *bed) hinted(t *testing.T, e Event) {
	hints := b.hints(t, e)
	switch e {
	case Other, CommentEdited:
		assert.Empty(t, hints)
		return
	}

	require.Len(t, hints, 1)
	hint := hints[0]
	assert.Equal(t, RepoID, hint.Repository.ID)
	switch e {
	case Commented, LineCommented, OwnComment:
		assert.Equal(t, codehost.HintComment, hint.Kind)
		assert.Equal(t, int32(Number), hint.Number)
		assert.Equal(t, e == LineCommented, hint.Comment.OnLine)
		assert.NotEmpty(t, hint.Comment.ID)
		assert.NotEmpty(t, hint.Comment.AuthorID)
		assert.Equal(t, e == OwnComment, hint.Comment.Author != Writer)
		assert.Equal(t, "/prwarden rescan – später", hint.Comment.Body)
	case Renamed:
		assert.Equal(t, codehost.HintRepository, hint.Kind)
		assert.Equal(t, "acme/site", hint.Name)
	case Rerun:
		assert.Equal(t, codehost.HintRerun, hint.Kind)
		assert.Equal(t, Head, hint.HeadSHA)
	case MergeGroup:
		assert.Equal(t, codehost.HintMergeGroup, hint.Kind)
		assert.Equal(t, []string{Head, Base}, []string{hint.HeadSHA, hint.BaseSHA})
		assert.NotEmpty(t, hint.Ref)
	default:
		assert.Equal(t, codehost.HintPullRequest, hint.Kind)
		assert.Equal(t, int32(Number), hint.Number)
		assert.NotEmpty(t, hint.HeadSHA)
		assert.True(t, strings.HasPrefix(Head, hint.HeadSHA), hint.HeadSHA)
	}
}
