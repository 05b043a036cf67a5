package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/ci"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/rule"
)

// target is what to ask the server for.
type target struct {
	request restclient.NewReview
	service string // CI service that told the pull request; empty when the command line did
	key     string // idempotency key; empty for one at random
	derived bool   // whether the key is made of the CI job
}

// String names what is scanned. A CI service may tell no commits, or such that
// can't be asked for.
func (t *target) String() string {
	if t.request.HeadSHA == "" {
		return fmt.Sprintf("%s#%d as the code host has it", t.request.Repo, t.request.PRNumber)
	}
	return fmt.Sprintf("%s#%d at %s", t.request.Repo, t.request.PRNumber, t.request.HeadSHA[:12])
}

var hexSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// target takes the pull request from the command line, or else from the CI
// service.
func (in ReviewInput) target(st Streams) (*target, error) {
	t := &target{request: restclient.NewReview{Ruleset: in.Ruleset}}
	var identity []string
	if in.Repo != "" || in.Number != "" {
		number, err := parseNumber(in.Number)
		if err != nil {
			return nil, err
		}
		if owner, name, ok := strings.Cut(in.Repo, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
			return nil, Usagef("%q is not a repository; write OWNER/REPO", in.Repo)
		}
		t.request.Repo, t.request.PRNumber = in.Repo, number
	} else {
		job, err := ci.Detect(st.Lookup)
		switch {
		case err != nil:
			return nil, Usagef("%w; or name one: prwarden review OWNER/REPO NUMBER", err)
		case job == nil:
			return nil, Usagef("which pull request? No CI service that prwarden knows says so; write OWNER/REPO and NUMBER")
		}
		t.request.Repo, t.request.PRNumber = job.Repo, job.Number
		t.request.HeadSHA, t.request.BaseSHA, t.request.BaseRef = job.HeadSHA, job.BaseSHA, job.BaseRef
		t.service, identity = job.Service, job.Identity
	}

	if err := in.commits(t); err != nil {
		return nil, err
	}
	if in.Output.FailOn != FailNever && in.Output.FailOn != rule.High.String() { // which is what servers take without
		t.request.FailOn = in.Output.FailOn
	}
	return t, in.idempotency(t, identity)
}

// commits puts the commits of the command line into the request.
func (in ReviewInput) commits(t *target) error {
	head, base := strings.ToLower(in.HeadSHA), strings.ToLower(in.BaseSHA)
	for _, flag := range []struct{ name, value string }{{"--head-sha", in.HeadSHA}, {"--base-sha", in.BaseSHA}} {
		if flag.value != "" && !hexSHA.MatchString(strings.ToLower(flag.value)) {
			return Usagef("%s: %q is not a commit in 40 hexadecimal digits", flag.name, flag.value)
		}
	}
	if base != "" && in.BaseRef != "" {
		return Usagef("--base-sha and --base-ref say the same; give one of them")
	}

	if head != "" {
		t.request.HeadSHA = head
	}
	if base != "" || in.BaseRef != "" {
		t.request.BaseSHA, t.request.BaseRef = base, in.BaseRef
	}
	given := head != "" || base != "" || in.BaseRef != ""
	if given && (t.request.HeadSHA == "" || t.request.BaseSHA == "" && t.request.BaseRef == "") {
		return Usagef("--head-sha goes with --base-sha or --base-ref")
	}
	return nil
}

// idempotency chooses the key. One that is made of the CI job is the same for
// every try of it, so that these start one scan together, and another one for
// another request.
func (in ReviewInput) idempotency(t *target, identity []string) error {
	if t.key = in.IdempotencyKey; t.key != "" {
		if len(t.key) > 255 || strings.ContainsFunc(t.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return Usagef("--idempotency-key: %q is not 1 to 255 visible ASCII characters", t.key)
		}
		return nil
	}

	if !slices.ContainsFunc(identity, func(part string) bool { return part != "" }) {
		return nil
	}
	request, err := json.Marshal(t.request)
	if err != nil {
		return err
	}
	t.key, t.derived = derivedKey(append(identity, string(request))...), true
	return nil
}

func derivedKey(parts ...string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts))
	return "ci-" + hex.EncodeToString(sum[:16])
}
