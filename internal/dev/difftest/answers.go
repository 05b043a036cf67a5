package difftest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
)

// Answer is what a scan says in the form of a review, as the format json has it.
type Answer struct {
	HeadSHA    string            `json:"head_sha"`
	BaseSHA    string            `json:"base_sha"`
	Status     string            `json:"status"`
	Findings   []json.RawMessage `json:"findings"`
	Suppressed []json.RawMessage `json:"suppressed"`
	Skipped    []json.RawMessage `json:"skipped"`
	Summary    json.RawMessage   `json:"summary"`
	Truncated  bool              `json:"truncated"`
	Error      json.RawMessage   `json:"error"`
}

// CompareAnswers returns where a local scan of two commits and a server's review
// of them differ: each finding with all of its fields, in order, and everything
// else that says what was found. Only that a finding is new or not, which
// needs a review before, is the server's alone. Of rules that used up their time
// on one of the sides, which depends on what else the machine does, nothing is
// compared; stopped names them.
func CompareAnswers(local, server Answer) (problems, stopped []string, err error) {
	for _, a := range []Answer{local, server} {
		more, err := a.stopped()
		if err != nil {
			return nil, nil, err
		}
		stopped = append(stopped, more...)
	}
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, list := range []struct {
		name          string
		local, server []json.RawMessage
	}{
		{"findings", local.Findings, server.Findings}, {"suppressed", local.Suppressed, server.Suppressed}, {"skipped", local.Skipped, server.Skipped},
	} {
		a, err := plainAll(list.local, stopped)
		if err != nil {
			return nil, nil, err
		}
		b, err := plainAll(list.server, stopped)
		if err != nil {
			return nil, nil, err
		}
		for _, line := range a {
			if !slices.Contains(b, line) {
				problem("%s: only the local scan has %s", list.name, line)
			}
		}
		for _, line := range b {
			if !slices.Contains(a, line) {
				problem("%s: only the server has %s", list.name, line)
			}
		}
		if len(problems) == 0 && !slices.Equal(a, b) {
			problem("%s: the order or the number differs", list.name)
		}
	}
	a, err := plain(local.Summary)
	if err != nil {
		return nil, nil, err
	}
	b, err := plain(server.Summary)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case a != b && len(stopped) == 0:
		problem("summary: %s locally, %s by the server", a, b)
	case local.Truncated != server.Truncated:
		problem("truncated: %t locally, %t by the server", local.Truncated, server.Truncated)
	case local.Status != server.Status:
		problem("status: %s locally, %s by the server %s", local.Status, server.Status, server.Error)
	case local.HeadSHA != server.HeadSHA || local.BaseSHA != server.BaseSHA:
		problem("commits: %s and %s locally, %s and %s by the server", local.HeadSHA, local.BaseSHA, server.HeadSHA, server.BaseSHA)
	}
	return problems, stopped, nil
}

// stopped are the rules that used up their time.
func (a Answer) stopped() (rules []string, err error) {
	for _, x := range a.Skipped {
		var skip struct {
			RuleID string `json:"rule_id"`
			Reason string `json:"reason"`
		}
		if err := json.Unmarshal(x, &skip); err != nil {
			return nil, err
		}
		if skip.Reason == finding.SkipRuleTimeout {
			rules = append(rules, skip.RuleID)
		}
	}
	return rules, nil
}

// plainAll is plain of all that is not about one of some rules.
func plainAll(list []json.RawMessage, without []string) (all []string, err error) {
	for _, x := range list {
		var about struct {
			RuleID string `json:"rule_id"`
		}
		if err := json.Unmarshal(x, &about); err != nil {
			return nil, err
		}
		text, err := plain(x)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(without, about.RuleID) {
			all = append(all, text)
		}
	}
	return all, nil
}

// plain is a JSON object without `state`, in a form that the same values always
// have, however they were escaped.
func plain(text json.RawMessage) (string, error) {
	var values map[string]any
	if err := json.Unmarshal(text, &values); err != nil {
		return "", fmt.Errorf("%.80s: %w", text, err)
	}
	delete(values, "state")
	out, err := json.Marshal(values)
	return string(out), err
}
