package difftest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/prwarden/prwarden/internal/finding"
)

// Answer is what a scan says in the form of a review, as the format json has it.
type Answer struct {
	HeadSHA    string           `json:"head_sha"`
	BaseSHA    string           `json:"base_sha"`
	Status     string           `json:"status"`
	Findings   []map[string]any `json:"findings"`
	Suppressed []map[string]any `json:"suppressed"`
	Skipped    []map[string]any `json:"skipped"`
	Summary    map[string]any   `json:"summary"`
	Truncated  bool             `json:"truncated"`
	Error      any              `json:"error"`
}

// CompareAnswers returns where a local scan of two commits and a server's review
// of them differ: each finding with all of its fields, in order, and everything
// else that says what was found. Only that a finding is new or not, which
// needs a review before, is the server's alone. Of rules that used up their time
// on one of the sides, which depends on what else the machine does, nothing is
// compared; stopped names them.
func CompareAnswers(local, server Answer) (problems, stopped []string) {
	for _, skip := range slices.Concat(local.Skipped, server.Skipped) {
		if skip["reason"] == finding.SkipRuleTimeout {
			stopped = append(stopped, fmt.Sprint(skip["rule_id"]))
		}
	}
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }

	for _, list := range []struct {
		name          string
		local, server []map[string]any
	}{
		{"findings", local.Findings, server.Findings},
		{"suppressed", local.Suppressed, server.Suppressed},
		{"skipped", local.Skipped, server.Skipped},
	} {
		a, b := lines(list.local, stopped), lines(list.server, stopped)
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

	a, b := encoded(local.Summary), encoded(server.Summary)
	switch {
	case a != b && len(stopped) == 0:
		problem("summary: %s locally, %s by the server", a, b)
	case local.Truncated != server.Truncated:
		problem("truncated: %t locally, %t by the server", local.Truncated, server.Truncated)
	case local.Status != server.Status:
		problem("status: %s locally, %s by the server %s", local.Status, server.Status, encoded(server.Error))
	case local.HeadSHA != server.HeadSHA || local.BaseSHA != server.BaseSHA:
		problem("commits: %s and %s locally, %s and %s by the server",
			local.HeadSHA, local.BaseSHA, server.HeadSHA, server.BaseSHA)
	}
	return problems, stopped
}

// lines are things that were found as JSON, without their state, and without
// those of some rules.
func lines(list []map[string]any, without []string) (all []string) {
	for _, thing := range list {
		if slices.Contains(without, fmt.Sprint(thing["rule_id"])) {
			continue
		}
		thing = maps.Clone(thing)
		delete(thing, "state")
		all = append(all, encoded(thing))
	}
	return all
}

func encoded(value any) string {
	text, _ := json.Marshal(value) // it was JSON
	return string(text)
}
