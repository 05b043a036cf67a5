package restclient

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/prwarden/prwarden/internal/rule"
)

// pushTimeout is for a call that checks thousands of rules.
const pushTimeout = 90 * time.Second

// RulesPush is what the rules of an organization shall be.
type RulesPush struct {
	rule.DocumentFile

	Prune  bool   `json:"prune"`
	DryRun bool   `json:"dry_run"`
	Etag   string `json:"etag,omitempty"` // of the plan
}

// RulesPlan is what a push changes.
type RulesPlan struct {
	Changes []struct {
		ID     string      `json:"id"`
		Action rule.Action `json:"action"`
		Fields []string    `json:"fields"`
	} `json:"changes"`
	Created   int    `json:"created"`
	Updated   int    `json:"updated"`
	Deleted   int    `json:"deleted"`
	Unchanged int    `json:"unchanged"`
	Etag      string `json:"etag"`
}

// PushRules makes the organization's rules those of a document, or says what that
// would change. It is safe against a lost answer: what was pushed already changes
// nothing.
func (c *Client) PushRules(ctx context.Context, p RulesPush) (plan RulesPlan, err error) {
	_, err = c.call(ctx, request{
		method: http.MethodPost, path: "/v1/rules:batch", body: rule.CompactJSON(p), timeout: pushTimeout,
	}, &plan)
	return plan, err
}

// ExportRules reads all rules that were created over the API, by full id.
func (c *Client) ExportRules(ctx context.Context) ([]Rule, error) {
	var answer struct {
		Rules []Rule `json:"rules"`
	}
	_, err := c.call(ctx, request{method: http.MethodGet, path: "/v1/rules:export"}, &answer)
	return answer.Rules, err
}

// RuleVersion is one change of a rule.
type RuleVersion struct {
	At     time.Time      `json:"at"`
	By     string         `json:"by"`
	Action rule.Action    `json:"action"`
	Rule   *rule.Document `json:"rule,omitempty"`
}

// RuleHistory reads the newest changes of a rule.
func (c *Client) RuleHistory(ctx context.Context, id string) (entries []RuleVersion, raw []byte, err error) {
	var out struct {
		Entries []RuleVersion `json:"entries"`
	}
	path := "/v1/rules/" + url.PathEscape(id) + ":history?page_size=100"
	raw, err = c.call(ctx, request{method: http.MethodGet, path: path}, &out)
	return out.Entries, raw, err
}
