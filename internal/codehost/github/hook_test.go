package github

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // GitHub sends it, too
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	api "github.com/google/go-github/v88/github"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// signature is GitHub's of a body.
func signature(body, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// GitHub's own example of "Validating webhook deliveries" on docs.github.com.
func TestVerifyDocumentedExample(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	h.Set("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	h.Set("X-GitHub-Delivery", "1")
	_, err := (&Host{}).Verify(h, []byte("Hello, World!"), [][]byte{[]byte("It's a Secret to Everybody")}, time.Time{})
	require.NoError(t, err)
}

func TestVerify(t *testing.T) {
	t.Parallel()
	const body, secret = `{"a":1}`, "secret"
	good := signature(body, secret)
	old := hmac.New(sha1.New, []byte(secret))
	old.Write([]byte(body))
	sha := "sha1=" + hex.EncodeToString(old.Sum(nil))

	for name, tt := range map[string]struct {
		header map[string]string
		want   bool
	}{
		"signed":       {map[string]string{"X-Hub-Signature-256": good, "X-GitHub-Delivery": "1"}, true},
		"both":         {map[string]string{"X-Hub-Signature": "sha1=", "X-Hub-Signature-256": good, "X-GitHub-Delivery": "1"}, true},
		"SHA-1 only":   {map[string]string{"X-Hub-Signature": sha, "X-GitHub-Delivery": "1"}, false},
		"SHA-1 inside": {map[string]string{"X-Hub-Signature-256": sha, "X-GitHub-Delivery": "1"}, false},
		"upper case":   {map[string]string{"X-Hub-Signature-256": strings.ToUpper(good), "X-GitHub-Delivery": "1"}, false},
		"no prefix":    {map[string]string{"X-Hub-Signature-256": good[7:], "X-GitHub-Delivery": "1"}, false},
		"no ID":        {map[string]string{"X-Hub-Signature-256": good}, false},
		"long ID":      {map[string]string{"X-Hub-Signature-256": good, "X-GitHub-Delivery": strings.Repeat("1", 101)}, false},
	} {
		h := http.Header{}
		for key, value := range tt.header {
			h.Set(key, value)
		}
		id, err := (&Host{}).Verify(h, []byte(body), [][]byte{[]byte("new"), []byte(secret)}, time.Now())
		assert.Equal(t, tt.want, err == nil, name)
		if tt.want {
			assert.Equal(t, "1", id)
		} else {
			require.ErrorIs(t, err, codehost.ErrSignature)
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	const repo = `"repository":{"id":42,"full_name":"acme/web","private":true}`
	repository := codehost.Repository{ID: "42", Name: "acme/web", Private: true}
	run := func(app, pulls string) string {
		return `{"action":"rerequested",` + repo + `,"check_run":{"name":"prwarden","head_sha":"abc","app":{"id":` + app +
			`},"pull_requests":[` + pulls + `]}}`
	}
	const pull = `{"number":7,"base":{"repo":{"id":42}}},{"number":8,"base":{"repo":{"id":99}}}`
	comment := func(issue, app string) string {
		return `{"action":"created",` + repo + `,"issue":` + issue + `,"comment":{"id":9,"body":"x","user":{"id":5,"login":"w"}` + app + `}}`
	}

	for name, tt := range map[string]struct {
		event, body string
		want        []codehost.Hint
	}{
		"unlabeled": {"pull_request", `{"action":"unlabeled",` + repo + `,"pull_request":{"number":7,"head":{"sha":"abc"}}}`,
			[]codehost.Hint{{Kind: codehost.HintPullRequest, Repository: repository, Number: 7, HeadSHA: "abc"}}},
		"another title":  {"pull_request", `{"action":"edited","changes":{"title":{"from":"x"}},` + repo + `,"pull_request":{"number":7}}`, nil},
		"another action": {"pull_request", `{"action":"assigned",` + repo + `,"pull_request":{"number":7}}`, nil},
		"number that is none": {
			"pull_request", `{"action":"opened",` + repo + `,"pull_request":{"number":-7}}`, nil,
		},
		"other installation": {
			"pull_request", `{"action":"opened","installation":{"id":6},` + repo + `,"pull_request":{"number":7}}`, nil,
		},
		"this installation": {
			"pull_request", `{"action":"opened","installation":{"id":5},` + repo + `,"pull_request":{"number":7}}`,
			[]codehost.Hint{{Kind: codehost.HintPullRequest, Repository: repository, Number: 7}},
		},
		"rerun": {"check_run", run("1", pull),
			[]codehost.Hint{{Kind: codehost.HintRerun, Repository: repository, Number: 7, HeadSHA: "abc"}}},
		"rerun of a fork": {"check_run", run("1", ""),
			[]codehost.Hint{{Kind: codehost.HintRerun, Repository: repository, HeadSHA: "abc"}}},
		"rerun of another App": {"check_run", run("2", pull), nil},
		"rerun of a suite": {
			"check_suite", `{"action":"rerequested",` + repo + `,"check_suite":{"head_sha":"abc","app":{"id":1},"pull_requests":[]}}`,
			[]codehost.Hint{{Kind: codehost.HintRerun, Repository: repository, HeadSHA: "abc"}},
		},
		"completed check": {"check_run", strings.Replace(run("1", pull), "rerequested", "completed", 1), nil},
		"queue let go": {
			"merge_group", `{"action":"destroyed",` + repo + `,"merge_group":{"head_sha":"h","base_sha":"b","head_ref":"r"}}`,
			[]codehost.Hint{{
				Kind: codehost.HintMergeGroupGone, Repository: repository, HeadSHA: "h", BaseSHA: "b", Ref: "r",
			}},
		},
		"comment on an issue": {"issue_comment", comment(`{"number":7}`, ""), nil},
		"comment": {"issue_comment", comment(`{"number":7,"pull_request":{}}`, ""), []codehost.Hint{{
			Kind: codehost.HintComment, Repository: repository, Number: 7,
			Comment: codehost.Comment{ID: "9", Author: "w", AuthorID: "5", Body: "x"},
		}}},
		"comment of ours": {
			"issue_comment", comment(`{"number":7,"pull_request":{}}`, `,"performed_via_github_app":{"id":1}`), nil,
		},
		"transferred": {"repository", `{"action":"transferred",` + repo + `}`,
			[]codehost.Hint{{Kind: codehost.HintRepository, Repository: repository, Name: "acme/web"}}},
		"archived": {"repository", `{"action":"archived",` + repo + `}`, nil},
		"suspended": {"installation", `{"action":"suspend","installation":{"id":6,"account":{"login":"acme"}}}`,
			[]codehost.Hint{{Kind: codehost.HintInstallation, Account: "acme"}}},
		"removed": {"installation", `{"action":"deleted","installation":{"id":5,"account":{"login":"acme"}}}`,
			[]codehost.Hint{{Kind: codehost.HintInstallation, Account: "acme"}}},
		"repositories removed": {
			"installation_repositories", `{"action":"removed","installation":{"id":5,"account":{"login":"acme"}}}`,
			[]codehost.Hint{{Kind: codehost.HintInstallation, Account: "acme"}},
		},
		"ping":           {"ping", `{"zen":"x"}`, nil},
		"no event":       {"", `{}`, nil},
		"of an own hook": {"push", `not even JSON`, nil},
	} {
		h := &Host{o: Options{AppID: 1, Installation: 5}}
		got, err := h.Hints(http.Header{"X-Github-Event": {tt.event}}, []byte(tt.body))
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, got, name)
	}
}

// While nobody asked which installation is that of the account, its name tells.
func TestHintsBeforeInstallationIsKnown(t *testing.T) {
	t.Parallel()
	for account, want := range map[string]int{"Acme": 1, "other": 0, "": 0} {
		h := &Host{o: Options{AppID: 1, Account: account}, app: &api.Client{}}
		got, err := h.Hints(http.Header{"X-Github-Event": {"pull_request"}}, []byte(
			`{"action":"opened","installation":{"id":6},"repository":{"id":42,"full_name":"acme/web"},"pull_request":{"number":7}}`))
		require.NoError(t, err)
		assert.Len(t, got, want, account)
	}
}

func TestHintsOfForm(t *testing.T) {
	t.Parallel()
	_, err := (&Host{}).Hints(http.Header{"X-Github-Event": {"pull_request"}}, []byte("payload=%7B%7D"))
	require.ErrorContains(t, err, "application/json")
}

func FuzzHints(f *testing.F) {
	for _, event := range Events {
		f.Add(event, `{"action":"opened","repository":{"id":1,"full_name":"a/b"},"pull_request":{"number":1}}`)
	}
	f.Add("check_run", `{"action":"rerequested","repository":{"id":1},"check_run":{"head_sha":"a","app":{"id":1}}}`)
	f.Add("installation", `{"installation":{"account":{}}}`)
	h := &Host{o: Options{AppID: 1, Installation: 5}}
	f.Fuzz(func(t *testing.T, event, body string) {
		hints, err := h.Hints(http.Header{"X-Github-Event": {event}}, []byte(body))
		if err != nil && len(hints) > 0 {
			t.Fatal("both hints and an error")
		}
		for _, hint := range hints {
			if hint.Kind == "" || hint.Number < 0 {
				t.Fatalf("%+v", hint)
			}
		}
	})
}
