package blackbox_test

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// plantedSecret is a text that a default rule hides, in a file of its own.
type plantedSecret struct {
	path       string
	base, head string
	isUnfolded bool     // it is too far from what is changed to be shown beside it
	parts      []string // its lines
}

// pathFor is a path at which a rule looks.
func pathFor(r rule.Rule, i int) string {
	name := "x.txt"
	if len(r.Paths.Include) > 0 {
		name = strings.ReplaceAll(strings.TrimPrefix(r.Paths.Include[0], "**/"), "*", "x")
	}
	if len(r.Languages) > 0 {
		name = map[string]string{"python": "x.py", "yaml": "x.yaml", "sql": "x.sql", "dockerfile": "Dockerfile"}[r.Languages[0]]
	}

	return fmt.Sprintf("c%03d/%s", i, name)
}

// plantSecrets makes one of each case of the default rules that redact, in turn in added,
// removed, unchanged and far lines. What of a case is secret is for Go's own engine to say.
func plantSecrets(t *testing.T) (all []plantedSecret) {
	t.Helper()
	rules, err := defaults.Load()
	require.NoError(t, err)
	for _, r := range rules {
		if !r.Redact {
			continue
		}
		pattern := regexp.MustCompile(r.Pattern)
		for _, text := range r.Cases.Match {
			s := plantedSecret{path: pathFor(r, len(all))}
			looked := strings.Split(text, "\n")
			if r.Multiline {
				looked = []string{text}
			}
			for _, part := range looked {
				for line := range strings.Lines(pattern.FindString(part)) {
					line = strings.TrimSpace(line)
					// `kind: Secret` and the like stand in files without secrets, too.
					if len(line) >= 8 && (!r.Multiline || strings.ContainsAny(line, "0123456789")) {
						s.parts = append(s.parts, line)
					}
				}
			}
			require.NotEmpty(t, s.parts, r.ID)

			with, without := "start\n"+text+"\nend\n", "start\nend\n"
			far := "start\n" + text + "\n" + strings.Repeat("between\n", 60)
			switch len(all) % 4 {
			case 0:
				s.base, s.head = without, with
			case 1:
				s.base, s.head = with, without
			case 2:
				s.base, s.head = with, with+"changed\n"
			case 3:
				s.base, s.head, s.isUnfolded = far, far+"changed\n", true
			}
			all = append(all, s)
		}
	}

	return all
}

// query is the query of GetDiff.
func diffPath(id string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}

	return "/v1/reviews/" + id + "/diff?" + values.Encode()
}

// diffTexts are the texts of an answer as people see them.
func diffTexts(d *prwardenv1.GetDiffResponse) string {
	var out strings.Builder
	for _, f := range d.GetFiles() {
		for _, h := range f.GetHunks() {
			out.WriteString(h.GetSection() + "\n")
			for _, l := range h.GetLines() {
				out.WriteString(l.GetText() + "\n")
			}
		}
	}

	return out.String()
}

// Secrets of all default rules that redact, in lines of each kind, are in no byte that the
// server answers, logs or keeps.
func TestNoSecretIsInADiff(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{args: []string{"--log-level", "debug"}})
	key := s.key(t, "acme", "--scopes", "reviews:read,reviews:write,source:read")
	c, rpc := s.client(key), s.services(t)
	ctx := metadata.NewOutgoingContext(t.Context(), with(t, key))

	secrets := plantSecrets(t)
	require.GreaterOrEqual(t, len(secrets), 200)
	base, head := files{}, files{}
	for _, p := range secrets {
		base[p.path], head[p.path] = p.base, p.head
	}
	h.create(t, "acme/api", base).pull(1, head)
	r := c.scan(t, "acme/api", 1)
	require.Equal(t, "complete", r["status"])
	id := r["review_id"].(string)

	var seen strings.Builder
	hidden := map[string]int{}
	ask := func(req *prwardenv1.GetDiffRequest, pairs ...string) {
		for {
			req.ReviewId = id
			got, err := rpc.reviews.GetDiff(ctx, req)
			require.NoError(t, err)
			require.Equal(t, prwardenv1.GetDiffResponse_available, got.GetAvailability())
			raw, err := proto.Marshal(got)
			require.NoError(t, err)
			more := pairs
			if req.PageToken != nil {
				more = append(slices.Clone(pairs), "page_token", req.GetPageToken())
			}
			a := c.do(t, "GET", diffPath(id, more...), nil)
			require.Equal(t, 200, a.status, a.body)
			seen.WriteString(string(raw) + a.body + diffTexts(got))
			for _, f := range got.GetFiles() {
				for _, hunk := range f.GetHunks() {
					for _, l := range hunk.GetLines() {
						hidden[f.GetFile()] += len(l.GetMasked())
					}
				}
			}
			if got.GetNextPageToken() == "" {
				return
			}
			req.PageToken = &got.NextPageToken
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(head)), 64) {
		pairs := []string{"context", "10"}
		for _, path := range some {
			pairs = append(pairs, "files", path)
		}
		ask(&prwardenv1.GetDiffRequest{Files: some, Context: new(int32(10))}, pairs...)
	}
	for _, p := range secrets {
		if p.isUnfolded {
			require.Zero(t, hidden[p.path], "%s is shown without being unfolded", p.path)
			ask(&prwardenv1.GetDiffRequest{Files: []string{p.path}, From: new(int32(1)), To: new(int32(40))},
				"files", p.path, "from", "1", "to", "40")
		}
	}
	ask(&prwardenv1.GetDiffRequest{})

	seen.WriteString(s.logged())
	kept, err := filepath.Glob(filepath.Join(s.dir, "prwarden.db*"))
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	for _, path := range kept {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		seen.Write(data)
	}
	for _, p := range secrets {
		assert.Positive(t, hidden[p.path], "nothing of %s is hidden: %s", p.path, p.parts)
		for _, part := range p.parts {
			assert.NotContains(t, seen.String(), part, p.path)
		}
	}
}
