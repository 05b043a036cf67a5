package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/rule"
)

// RulesPushInput is what `rules push` was asked for.
type RulesPushInput struct {
	File   string // `-` for stdin
	Prune  bool   // delete rules that are not in the file
	DryRun bool   // only show the plan
}

// PushRules shows what a file changes in the rules of an organization, and changes
// that.
func PushRules(ctx context.Context, st Streams, c config.Client, in RulesPushInput) error {
	rules, err := readPushFile(ctx, st, in.File)
	if err != nil {
		return err
	}
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}

	push := restclient.RulesPush{DocumentFile: rule.DocumentsOf(rules), Prune: in.Prune, DryRun: true}
	plan, err := client.PushRules(ctx, push)
	if err != nil {
		return reviewError(err)
	}
	before, err := rulesBefore(ctx, client, plan)
	if err != nil {
		return reviewError(err)
	}
	if err := showPlan(st.Out, plan, before, rule.ByID(rules)); err != nil || in.DryRun || len(plan.Changes) == 0 {
		return err
	}

	push.DryRun, push.Etag = false, plan.Etag
	if _, err := client.PushRules(ctx, push); err != nil {
		return reviewError(err)
	}
	_, err = fmt.Fprintln(st.Out, "Done.")
	return err
}

// readPushFile reads a file with rules. Its mistakes go to stderr.
func readPushFile(ctx context.Context, st Streams, path string) ([]rule.Rule, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = io.ReadAll(io.LimitReader(os.Stdin, rule.MaxLocalFileSize+1))
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, Usagef("the rules can't be read: %w", err)
	}

	rules, err := rule.ParsePushFile(ctx, data)
	var broken *rule.FileError
	if !errors.As(err, &broken) {
		return rules, err
	}
	for _, m := range broken.Mistakes {
		line := fmt.Sprintf("%s:%d: %s", path, m.Line, m.Message)
		if _, err := fmt.Fprintln(st.Err, terminal.GuardLine(terminal.Safe(line))); err != nil {
			return nil, err
		}
	}
	return nil, ErrFound
}

// rulesBefore reads the rules that a plan changes, by full id: nothing with a key
// that may not read rules.
func rulesBefore(
	ctx context.Context, client *restclient.Client, plan restclient.RulesPlan,
) (map[string]rule.Rule, error) {
	if plan.Updated == 0 {
		return nil, nil
	}
	stored, err := client.ExportRules(ctx)
	var refused *restclient.APIError
	if errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		return nil, nil
	}

	return rule.ByID(rulesOf(stored)), err
}

func rulesOf(list []restclient.Rule) []rule.Rule {
	rules := make([]rule.Rule, len(list))
	for i, r := range list {
		rules[i] = r.Rule()
	}

	return rules
}

// valueWidth is how many columns a value in a plan has at most.
const valueWidth = 60

// changedValue says what a field is and what it will be. What isn't given has its
// default. Of long values that begin alike the beginning is left out.
func changedValue(before, after rule.Rule, field string) string {
	value := func(r rule.Rule) []rune {
		v, given := rule.Fields(r.Document())[field]
		if !given {
			return []rune("default")
		}
		text, ok := v.(string)
		if !ok {
			text = string(rule.CompactJSON(v))
		}
		return []rune(terminal.Safe(text))
	}

	was, is := value(before), value(after)
	same := 0
	for same < min(len(was), len(is)) && was[same] == is[same] {
		same++
	}
	begin := ""
	if skip := same - valueWidth/3; skip > 0 && max(len(was), len(is)) > valueWidth {
		begin, was, is = "…", was[skip:], is[skip:]
	}
	shown := func(v []rune) string { return terminal.Cut(begin+string(v), valueWidth) }

	return fmt.Sprintf("    %s: %s -> %s", terminal.Safe(field), shown(was), shown(is))
}

func showPlan(w io.Writer, plan restclient.RulesPlan, before, after map[string]rule.Rule) error {
	var b strings.Builder
	signs := map[rule.Action]string{rule.ActionCreate: "+", rule.ActionUpdate: "~", rule.ActionDelete: "-"}
	for _, c := range plan.Changes {
		line := signs[c.Action] + " " + c.ID
		was, known := before[c.ID]
		if len(c.Fields) > 0 && !known {
			line += " (" + strings.Join(c.Fields, ", ") + ")"
		}
		b.WriteString(terminal.GuardLine(terminal.Safe(line)) + "\n")
		for _, field := range c.Fields {
			if known {
				b.WriteString(terminal.GuardLine(changedValue(was, after[c.ID], field)) + "\n")
			}
		}
	}
	if len(plan.Changes) == 0 {
		fmt.Fprintf(&b, "Nothing to change, %d unchanged.\n", plan.Unchanged)
	} else {
		fmt.Fprintf(&b, "%d to create, %d to change, %d to delete, %d unchanged.\n",
			plan.Created, plan.Updated, plan.Deleted, plan.Unchanged)
	}

	_, err := io.WriteString(w, b.String())
	return err
}

// PullRules writes the rules of an organization as a file that PushRules takes, to
// stdout unless it is named.
func PullRules(ctx context.Context, st Streams, c config.Client, file string) error {
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	rules, err := client.ExportRules(ctx)
	if err != nil {
		return reviewError(err)
	}
	data, err := rule.DocumentsOf(rulesOf(rules)).YAML()
	switch {
	case err != nil:
		return err
	case file != "":
		if err := os.WriteFile(file, data, 0o644); err != nil { //nolint:gosec // rules are no secret
			return Usagef("the rules can't be written: %w", err)
		}
		st.note("%s written to %s", terminal.Count(len(rules), "rule"), file)
		return nil
	}
	_, err = st.Out.Write(data) // YAML has no control characters
	return err
}

// RuleHistory shows who changed a rule, and when.
func RuleHistory(ctx context.Context, st Streams, c config.Client, id, output string) error {
	if output != "text" && output != "json" {
		return Usagef("--output: %q is not a format; use text or json", output)
	}
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	entries, raw, err := client.RuleHistory(ctx, id)
	if err != nil {
		return reviewError(err)
	}
	if output == "json" {
		_, err = fmt.Fprintln(st.Out, terminal.SafeJSON(raw))
		return err
	}

	slices.Reverse(entries)
	var before rule.Document
	var lines []string
	for _, e := range entries {
		line := fmt.Sprintf("%s  %s  %s", e.At.UTC().Format(time.DateTime), e.Action, e.By)
		if e.Rule != nil {
			after := e.Rule.Rule().Document()
			if fields := rule.ChangedFields(before, after); e.Action == rule.ActionUpdate && len(fields) > 0 {
				line += "  " + strings.Join(fields, ", ")
			}
			before = after
		}
		lines = append(lines, terminal.GuardLine(terminal.Safe(line))+"\n")
	}
	slices.Reverse(lines)
	_, err = io.WriteString(st.Out, strings.Join(lines, ""))
	return err
}
