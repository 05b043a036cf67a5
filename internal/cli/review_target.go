package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/prwarden/prwarden/internal/cli/ci"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

// target is what to ask the server for.
type target struct {
	request restclient.NewReview
	service string // CI service that told the pull request; empty when the command line did
	key     string // idempotency key; empty for one at random
	derived bool   // the key is made of the CI job
}

// String names what is scanned. A CI service may tell no commits, or such that
// can't be asked for.
func (t *target) String() string {
	at := "as the code host has it"
	if t.request.HeadSHA != "" {
		at = "at " + t.request.HeadSHA[:12]
	}

	return fmt.Sprintf("%s#%d %s", t.request.Repo, t.request.PRNumber, at)
}

// target takes the pull request from the command line, or else from the CI
// service, and says what is wrong with what is asked for.
func (in ReviewInput) target(st Streams) (*target, error) {
	switch {
	case in.Timeout <= 0:
		return nil, Usagef("--timeout: %s is no time to wait; give more than 0", in.Timeout)
	case in.NoWait && len(in.Output.Formats) > 0 && strings.Join(in.Output.formats(), ",") != report.JSON:
		return nil, Usagef("--output: with --no-wait there are no findings to show; "+
			"leave it out, or use %s for the server's answer", report.JSON)
	}

	t := &target{request: restclient.NewReview{Ruleset: in.Ruleset}}
	var identity []string
	if in.Repo != "" {
		number, err := strconv.ParseInt(strings.TrimPrefix(in.Number, "#"), 10, 32)
		if err != nil || number < 1 {
			return nil, Usagef("%q is not a pull request number from 1 to %d; write OWNER/REPO NUMBER", in.Number, math.MaxInt32)
		}

		if owner, name, ok := strings.Cut(in.Repo, "/"); !ok || owner == "" || name == "" || strings.Contains(name, "/") {
			return nil, Usagef("%q is not a repository; write OWNER/REPO", in.Repo)
		}

		t.request.Repo, t.request.PRNumber = in.Repo, int32(number)
	} else {
		job, err := ci.Detect(st.Lookup)
		if err != nil {
			return nil, Usagef("%w; or name one: prwarden review OWNER/REPO NUMBER", err)
		}

		if job == nil {
			return nil, Usagef("which pull request? No CI service that prwarden knows says so; write OWNER/REPO and NUMBER")
		}

		t.request.Repo, t.request.PRNumber = job.Repo, job.Number
		t.request.HeadSHA, t.request.BaseSHA, t.request.BaseRef = job.HeadSHA, job.BaseSHA, job.BaseRef
		t.service, identity = job.Service, job.Identity
	}

	if err := in.commits(&t.request); err != nil {
		return nil, err
	}

	if in.Output.FailOn != FailNever && in.Output.FailOn != rule.High.String() { // which is what servers take without
		t.request.FailOn = in.Output.FailOn
	}

	return t, in.idempotency(t, identity)
}

var hexSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// commits puts the commits of the command line into the request.
func (in ReviewInput) commits(request *restclient.NewReview) error {
	head, base := strings.ToLower(in.HeadSHA), strings.ToLower(in.BaseSHA)
	switch {
	case head == "" && base == "" && in.BaseRef == "":
		return nil
	case head != "" && !hexSHA.MatchString(head):
		return Usagef("--head-sha: %q is not a commit in 40 hexadecimal digits", in.HeadSHA)
	case base != "" && !hexSHA.MatchString(base):
		return Usagef("--base-sha: %q is not a commit in 40 hexadecimal digits", in.BaseSHA)
	case base != "" && in.BaseRef != "":
		return Usagef("--base-sha and --base-ref say the same; give one of them")
	}

	if head != "" {
		request.HeadSHA = head
	}

	if base != "" || in.BaseRef != "" {
		request.BaseSHA, request.BaseRef = base, in.BaseRef
	}

	if request.HeadSHA == "" || request.BaseSHA == "" && request.BaseRef == "" {
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

	if strings.Join(identity, "") == "" {
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
