package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/prwarden/prwarden/internal/rule"
)

// body is a message as Standard Webhooks recommends it.
type body struct {
	Type      Event     `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event
	Data      Data      `json:"data"`
}

// slackBody is a message as Slack's incoming webhooks take it.
type slackBody struct {
	Text   string       `json:"text"`
	Blocks []slackBlock `json:"blocks"`
}

type slackBlock struct {
	Type string    `json:"type"`
	Text slackText `json:"text"`
}

type slackText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// render writes the body of a message. publicURL is where people reach the server; ""
// for no links.
func render(m Message, f Format, publicURL string) ([]byte, error) {
	d := m.Data
	if publicURL = strings.TrimRight(publicURL, "/"); publicURL != "" {
		switch {
		case d.ReviewID != "":
			d.URL = publicURL + "/v1/reviews/" + d.ReviewID
		case d.ConnectionID != "":
			d.URL = publicURL + "/v1/connections/" + d.ConnectionID
		}
	}
	if f == Slack {
		text := slackWords(m.Event, d)

		return json.Marshal(slackBody{
			Text: text, Blocks: []slackBlock{{Type: "section", Text: slackText{Type: "mrkdwn", Text: text}}},
		})
	}

	return json.Marshal(body{Type: m.Event, Timestamp: m.CreatedAt, Data: d})
}

// escapeSlack escapes what Slack takes for its own, and what would begin a format or a
// mention.
var escapeSlack = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "'")

// slackWords says an event in a line of Slack's mrkdwn.
func slackWords(e Event, d Data) (text string) {
	subject := fmt.Sprintf("`%s` pull request %d", escapeSlack.Replace(d.Repo), d.PRNumber)
	switch e {
	case ReviewQueued:
		text = subject + ": the review is queued."
	case ReviewCompleted:
		text = fmt.Sprintf("%s: *%s*, %s.", subject, d.Verdict, counts(d))
	case ReviewFailed:
		text = fmt.Sprintf("%s: the review failed (%s).", subject, escapeSlack.Replace(d.FailureCode))
	case ConnectionBroken:
		text = fmt.Sprintf("The connection `%s` does not work any more.", escapeSlack.Replace(d.Connection))
	case Test:
		text = "This is a test of prwarden."
	}
	if d.URL != "" {
		text += " <" + escapeSlack.Replace(d.URL) + "|More>"
	}

	return text
}

// counts says how many findings there are.
func counts(d Data) string {
	var words []string
	for _, s := range rule.Severities() {
		if n := d.Findings[s]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(words) == 0 {
		return "no findings"
	}

	return strings.Join(words, ", ")
}

// sign sets the headers of Standard Webhooks, with a signature of each secret.
func sign(h http.Header, id string, at time.Time, body []byte, secrets []string) error {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		by, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			signatures[i], err = by.Sign(id, at, body)
		}
		if err != nil {
			return fmt.Errorf("secret %d of the webhook can't sign", i) // the library's error may have a part of it
		}
	}
	h.Set(standardwebhooks.HeaderWebhookID, id)
	h.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(at.Unix(), 10))
	h.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))

	return nil
}
