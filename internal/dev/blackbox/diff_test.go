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
		name = map[string]string{
			"python": "x.py", "yaml": "x.yaml", "sql": "x.sql", "dockerfile": "Dockerfile", "php": "x.php",
			"javascript": "x.js", "java": "x.java", "go": "x.go", "ruby": "x.rb", "c#": "x.cs", "kotlin": "x.kt", "hcl": "x.tf",
		}[r.Languages[0]]
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
			far := "start\n" + text + "\n" + strings.Repeat(fmt.Sprintf("between, %d\n", len(all)), 60)
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

// diffPath is the path of GetDiff with a query.
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
	from := map[string]int32{} // the first line that is shown of each file at first
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
					if from[f.GetFile()] == 0 {
						from[f.GetFile()] = hunk.GetNewStart()
					}
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
			secret := int32(strings.Count(p.head, "\n") - 61) // its last line
			require.Greater(t, from[p.path], secret, "%s is shown without being unfolded", p.path)
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

// hunksOf are those of a file in an answer, as `git diff` writes them.
func hunksOf(t *testing.T, file map[string]any) string {
	t.Helper()
	var out strings.Builder
	for _, h := range list(file["hunks"]) {
		h := h.(map[string]any)
		fmt.Fprintf(&out, "@@ -%v +%v @@ %s\n", h["old_start"], h["new_start"], h["section"])
		for _, l := range list(h["lines"]) {
			l := l.(map[string]any)
			mark := map[string]string{"context": " ", "added": "+", "removed": "-"}[l["kind"].(string)]
			require.NotEmpty(t, mark)
			out.WriteString(mark + l["text"].(string) + "\n")
			if l["no_newline"] == true {
				out.WriteString("\\\n")
			}
		}
	}

	return out.String()
}

func TestDiff(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{organizations: []organization{{"acme", "*/*"}, {"other", "*/*"}}})
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,rules:write,source:read"))
	addRule(t, c, map[string]any{
		"id": "todo", "type": "regex", "pattern": "TODO", "message": "Do it.", "severity": "low",
	})
	body := strings.Repeat("line\n", 20)
	repo := h.create(t, "acme/api", files{
		"a.go": "package a\n\nfunc f() {\n\t1\n\t2\n\t3\n\t4\n}\n", "old.txt": "first\n" + body, "gone.txt": "x\ny", "bin": "\x00\x01\x02",
	}).pull(1, files{
		"a.go":    "package a\n\nfunc f() {\n\t1\n\t2\n\t3\n\t4 // TODO\n}",
		"old.txt": remove, "new.txt": "first TODO\n" + body, "gone.txt": remove, "bin": "\x00\x01\x03", "made/c.txt": "n TODO\n",
	})
	base := repo.sha("refs/heads/main")
	repo.commit("refs/heads/main", base, files{"later.txt": "not of the pull request\n"})
	r := c.scan(t, "acme/api", 1)
	require.Equal(t, "complete", r["status"], r)
	id := r["review_id"].(string)
	get := func(pairs ...string) map[string]any {
		a := c.do(t, "GET", diffPath(id, pairs...), nil)
		require.Equal(t, 200, a.status, a.body)
		m := a.decode(t)
		assert.Equal(t, "available", m["availability"])
		return m
	}

	type file struct{ path, change, old, hunks string }
	filesOf := func(m map[string]any) (all []file) {
		for _, f := range list(m["files"]) {
			f := f.(map[string]any)
			old, _ := f["old_file"].(string)
			all = append(all, file{f["file"].(string), f["change"].(string), old, hunksOf(t, f)})
		}
		return all
	}
	withFindings := []file{
		{"a.go", "modified", "", "@@ -4 +4 @@ func f() {\n \t1\n \t2\n \t3\n-\t4\n-}\n+\t4 // TODO\n+}\n\\\n"},
		{"made/c.txt", "added", "", "@@ -1 +1 @@ \n+n TODO\n"},
		{"new.txt", "renamed", "old.txt", "@@ -1 +1 @@ \n-first\n+first TODO\n line\n line\n line\n"},
	}
	assert.Equal(t, withFindings, filesOf(get()))
	assert.Equal(t, withFindings[1:2], filesOf(get("files", "made/c.txt", "files", "no such file")))
	others := get("files", "gone.txt", "files", "bin", "files", "later.txt")
	assert.Equal(t, []file{
		{"bin", "modified", "", ""}, {"gone.txt", "deleted", "", "@@ -1 +1 @@ \n-x\n-y\n\\\n"},
	}, filesOf(others))
	assert.Equal(t, "binary", list(others["files"])[0].(map[string]any)["not_shown"])
	assert.Equal(t, []file{{"a.go", "modified", "", "@@ -7 +7 @@ func f() {\n-\t4\n-}\n+\t4 // TODO\n+}\n\\\n"}},
		filesOf(get("files", "a.go", "context", "0")))
	assert.Equal(t, []file{{"new.txt", "renamed", "old.txt", "@@ -10 +10 @@ line\n line\n line\n"}},
		filesOf(get("files", "new.txt", "from", "10", "to", "11")))

	refused := func(field string, pairs ...string) {
		a := c.do(t, "GET", diffPath(id, pairs...), nil)
		assert.Equal(t, 400, a.status, a.body)
		assert.Contains(t, a.fields(t), field, a.body)
	}
	refused("context", "context", "51")
	refused("page_token", "page_token", "x")
	refused("to", "files", "a.go", "from", "1", "to", "201")
	refused("from", "files", "a.go", "from", "1")
	refused("files", "from", "1", "to", "2")
	refused("files", slices.Repeat([]string{"files", "a"}, 65)...)
	refused("context", "context", "1", "context", "2")

	poor := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write"))
	a := poor.do(t, "GET", diffPath(id), nil)
	assert.Equal(t, 403, a.status)
	assert.Equal(t, "SCOPE_MISSING", a.reason(t))
	assert.NotContains(t, a.body, "TODO")
	rich := s.client(s.key(t, "other", "--scopes", "reviews:read,reviews:write,source:read"))
	a = rich.do(t, "GET", diffPath(id), nil)
	assert.Equal(t, 404, a.status)
	assert.Equal(t, "REVIEW_NOT_FOUND", a.reason(t))
	failed := c.scan(t, "acme/none", 1)
	require.Equal(t, "failed", failed["status"])
	a = c.do(t, "GET", diffPath(failed["review_id"].(string)), nil)
	assert.Equal(t, 409, a.status)
	assert.Equal(t, "REVIEW_NOT_COMPLETE", a.reason(t))

	// What the cache has needs no host, and what is nowhere is gone.
	require.NoError(t, os.RemoveAll(repo.dir))
	assert.Equal(t, withFindings, filesOf(get("context", "3")))
	assert.Len(t, list(get("context", "4")["files"]), 3)
	s.stop(t)
	require.NoError(t, os.RemoveAll(filepath.Join(s.dir, "cache")))
	s.start(t)
	c = s.client(c.token)
	a = c.do(t, "GET", diffPath(id), nil)
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, "gone", a.decode(t)["availability"])

	s.stop(t)
	s.args = append(s.args, "--dashboard-source=false")
	s.start(t)
	c = s.client(c.token)
	a = c.do(t, "GET", diffPath(id), nil)
	require.Equal(t, 200, a.status, a.body)
	assert.Equal(t, map[string]any{"availability": "disabled", "files": []any{}, "next_page_token": ""}, a.decode(t))
	s.stop(t)
}

// More files than an answer has come page by page.
func TestDiffPages(t *testing.T) {
	t.Parallel()
	h := newHosts(t)
	s := startServer(t, h, serverOptions{})
	c := s.client(s.key(t, "acme", "--scopes", "reviews:read,reviews:write,rules:write,source:read"))
	addRule(t, c, map[string]any{
		"id": "todo", "type": "regex", "pattern": "TODO", "message": "Do it.", "severity": "low",
	})
	head := files{}
	for i := range 70 {
		head[fmt.Sprintf("f%02d", i)] = "TODO\n"
	}
	head["large"] = "TODO\n" + strings.Repeat("x\n", 19_990)
	h.create(t, "acme/api", files{"a": "a\n"}).pull(1, head)
	id := c.scan(t, "acme/api", 1)["review_id"].(string)

	var paths []string
	var pages []int
	for token := ""; ; {
		pairs := []string{}
		if token != "" {
			pairs = append(pairs, "page_token", token)
		}
		a := c.do(t, "GET", diffPath(id, pairs...), nil)
		require.Equal(t, 200, a.status, a.body)
		m := a.decode(t)
		for _, f := range list(m["files"]) {
			paths = append(paths, f.(map[string]any)["file"].(string))
			assert.Equal(t, false, f.(map[string]any)["truncated"])
		}
		pages = append(pages, len(list(m["files"])))
		if token = m["next_page_token"].(string); token == "" {
			break
		}
	}
	assert.Equal(t, slices.Sorted(maps.Keys(head)), paths)
	assert.Equal(t, []int{64, 7}, pages)
}
