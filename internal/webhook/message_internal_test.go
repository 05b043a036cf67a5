package webhook

import (
	"errors"
	"net/http"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// TestPublishedVector signs what Standard Webhooks publishes: TestWebhookSign of
// libraries/go/webhook_test.go at v0.0.1 in github.com/standard-webhooks/standard-webhooks,
// which its other libraries have, too.
func TestPublishedVector(t *testing.T) {
	t.Parallel()
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`
	h := http.Header{}
	at := time.Unix(1614265330, 0)
	require.NoError(t, sign(h, "msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(body), []string{secret}))
	assert.Equal(t, http.Header{
		"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	}, h)

	by, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	require.NoError(t, by.VerifyIgnoringTimestamp([]byte(body), h))
	for i := range len(body) * 8 {
		flipped := []byte(body)
		flipped[i/8] ^= 1 << (i % 8)
		require.Error(t, by.VerifyIgnoringTimestamp(flipped, h), "bit %d", i)
	}
}

func TestSignTwice(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	secrets := []string{newSecret(), newSecret()}
	require.NoError(t, sign(h, "msg_1", time.Now(), []byte("{}"), secrets))
	for _, secret := range secrets {
		by, err := standardwebhooks.NewWebhook(secret)
		require.NoError(t, err)
		require.NoError(t, by.Verify([]byte("{}"), h))
	}
	err := sign(http.Header{}, "msg_1", time.Now(), nil, []string{"whsec_!canary"})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "canary")
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status, tries int
		after         time.Duration
		state         MessageState
		least, most   time.Duration
		hold          time.Duration
		gone          bool
	}{
		"delivered": {status: 204, state: Delivered},
		"no answer": {state: Waiting, least: 5 * time.Second, most: 6 * time.Second},
		"moved":     {status: 301, state: Waiting, least: 5 * time.Second, most: 6 * time.Second},
		"gone":      {status: 410, state: Failed, gone: true},
		"third":     {status: 500, tries: 2, state: Waiting, least: 30 * time.Minute, most: 36 * time.Minute},
		"ninth":     {status: 500, tries: 8, state: Waiting, least: 24 * time.Hour, most: 29 * time.Hour},
		"last":      {status: 500, tries: 9, state: Failed},
		"limited": {
			status: 429, after: time.Minute, state: Waiting, least: time.Minute, most: time.Minute, hold: time.Minute,
		},
		"limited for long": {
			status: 503, after: 99 * time.Hour, state: Waiting, least: maxHold, most: maxHold, hold: maxHold,
		},
		"asks without limit": {
			status: 500, after: time.Minute, state: Waiting, least: 5 * time.Second, most: 6 * time.Second,
		},
	} {
		e := judge(Claim{Tries: tt.tries}, Attempt{Status: tt.status}, tt.after)
		assert.Equal(t, tt.state, e.State, name)
		assert.GreaterOrEqual(t, e.After, tt.least, name)
		assert.LessOrEqual(t, e.After, tt.most+time.Nanosecond, name)
		assert.Equal(t, tt.hold, e.Hold, name)
		assert.Equal(t, tt.gone, e.Gone, name)
	}
}

func TestSlackWords(t *testing.T) {
	t.Parallel()
	d := Data{Repo: "acme/<!channel>&`x", PRNumber: 7, Verdict: finding.Fail, FailureCode: "c", Connection: "git"}
	assert.Equal(t, "`acme/&lt;!channel&gt;&amp;'x` pull request 7: *fail*, no findings.", slackWords(ReviewCompleted, d))
	d.Repo, d.Findings = "a/b", finding.Summary{rule.High: 2, rule.Low: 1, rule.Medium: 0}
	assert.Equal(t, "`a/b` pull request 7: *fail*, 2 high, 1 low.", slackWords(ReviewCompleted, d))
	assert.Equal(t, "`a/b` pull request 7: the review failed (c).", slackWords(ReviewFailed, d))
	assert.Equal(t, "The connection `git` does not work any more.", slackWords(ConnectionBroken, d))
	assert.Equal(t, "This is a test of prwarden.", slackWords(Test, d))
}

func TestShownURL(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "https://a.example/x%20y?…", shownURL("https://a.example/x%20y?token=secret", Standard))
	assert.Equal(t, "https://a.example:8443", shownURL("https://a.example:8443", Standard))
	assert.Equal(t, "https://hooks.slack.com/…", shownURL("https://hooks.slack.com/services/T/B/secret", Slack))
	assert.Equal(t, "x", why(errors.New("x")))
}
