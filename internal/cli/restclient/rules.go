package restclient

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
)

// RuleStats is the numbers of a rule.
type RuleStats struct {
	RuleID     string `json:"rule_id"`
	Repo       string `json:"repo"` // "" for all together
	Found      int    `json:"found"`
	Fixed      int    `json:"fixed"`
	Suppressed int    `json:"suppressed"`
	Wrong      int    `json:"false_positive"`
	Work       int    `json:"work_mib"`
}

// RuleStatsPage is a part of the numbers of rules.
type RuleStatsPage struct {
	Rules         []RuleStats `json:"rules"`
	Since         string      `json:"since"`
	Until         string      `json:"until"`
	NextPageToken string      `json:"next_page_token"`
}

// RuleStats reads a page of the numbers of rules. query is that of the API.
func (c *Client) RuleStats(ctx context.Context, query url.Values) (page RuleStatsPage, raw []byte, err error) {
	raw, err = c.call(ctx, request{method: http.MethodGet, path: "/v1/stats/rules?" + query.Encode()}, &page)
	if err == nil && page.Since == "" {
		err = c.strange("its answer has no window")
	}
	return page, raw, err
}

// Trial asks for rules to be tried on pull requests.
type Trial struct {
	Rules []rule.Document `json:"rules"`
	Last  int             `json:"last"`
	Repo  string          `json:"repo,omitempty"`
}

// Tried is what rules found in pull requests.
type Tried struct {
	Rules []struct {
		RuleID       string `json:"rule_id"`
		Hits         int    `json:"hits"`
		PullRequests int    `json:"pull_requests"`
		Cost         *struct {
			Microseconds int    `json:"microseconds_per_mib"`
			Advice       string `json:"advice"`
		} `json:"matching_cost"`
	} `json:"rules"`
	PullRequests []struct {
		Repo      string            `json:"repo"`
		PRNumber  int32             `json:"pr_number"`
		Hits      int               `json:"hits"`
		Findings  []finding.Finding `json:"findings"`
		Truncated bool              `json:"truncated"`
		Failure   *review.Failure   `json:"error"`
	} `json:"pull_requests"`
	Untried int `json:"untried"`
}

// trialTimeout is for how long an answer to TryRules is waited for. Servers take
// half of that.
const trialTimeout = time.Minute

// TryRules tries rules on the pull requests that were reviewed last.
func (c *Client) TryRules(ctx context.Context, in Trial) (out Tried, raw []byte, err error) {
	r := request{method: http.MethodPost, path: "/v1/rules:try", body: rule.CompactJSON(in), timeout: trialTimeout}
	raw, err = c.call(ctx, r, &out)
	return out, raw, err
}

// Rule is a rule of a ruleset. Only rules from the API have who changed them, and
// when.
type Rule struct {
	rule.Document
	CreatedAt time.Time `json:"created_at,omitzero"`
	CreatedBy string    `json:"created_by,omitempty"`
	UpdatedAt time.Time `json:"updated_at,omitzero"`
	UpdatedBy string    `json:"updated_by,omitempty"`
}

// Rules reads the rules of a ruleset.
func (c *Client) Rules(ctx context.Context, ruleset string) ([]Rule, error) {
	var answer struct {
		Rules []Rule `json:"rules"`
	}
	path := "/v1/rulesets/" + url.PathEscape(ruleset) + "/rules"
	_, err := c.call(ctx, request{method: http.MethodGet, path: path}, &answer)
	if err == nil && answer.Rules == nil {
		err = c.strange("its answer has no rules")
	}
	return answer.Rules, err
}

// Policy reads the organization's policy, as it came.
func (c *Client) Policy(ctx context.Context) (raw []byte, err error) {
	var answer map[string]any
	return c.call(ctx, request{method: http.MethodGet, path: "/v1/policy"}, &answer)
}

// SetPolicy replaces the policy by one in JSON.
func (c *Client) SetPolicy(ctx context.Context, body []byte) error {
	var answer map[string]any
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/policy", body: body}, &answer)
	return err
}
