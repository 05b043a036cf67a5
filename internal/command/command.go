package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/triage"
)

// Keep is how long it is known what was done.
const Keep = 400 * 24 * time.Hour

// Store remembers what was done, by a name that is unique in a connection.
type Store interface {
	// KeepCommand remembers a name. first is false when it was known.
	KeepCommand(ctx context.Context, org, connectionID, name string) (first bool, err error)
	// KnowsCommand reports whether a name is remembered.
	KnowsCommand(ctx context.Context, org, connectionID, name string) (bool, error)
	// ForgetCommand forgets a name.
	ForgetCommand(ctx context.Context, org, connectionID, name string) error
}

// Triage decides about findings; see triage.Service.
type Triage interface {
	Set(ctx context.Context, org string, c triage.Change) (id string, changed int, err error)
}

// Scans queues the head of a pull request, once for each cause.
type Scans interface {
	Queue(ctx context.Context, c connection.Connection, p codehost.PullRequest, again string) error
}

// Rules are those of a repository; see rule.Service.
type Rules interface {
	RulesFor(ctx context.Context, org, repo string) (rule.Set, error)
	FileRules(ctx context.Context, org, repo string) ([]rule.Rule, error)
}

// Commands does what comments ask for.
type Commands struct {
	store  Store
	triage Triage
	scans  Scans
	rules  Rules
	log    *slog.Logger
}

// New returns what does commands.
func New(store Store, triage Triage, scans Scans, rules Rules, log *slog.Logger) *Commands {
	return &Commands{store: store, triage: triage, scans: scans, rules: rules, log: log}
}

// Handle does what a comment asks for, and answers it by a reaction. Nothing happens when
// it is no command, when its author may not write to the repository now, and when it was
// handled before. An error is one that passes; what was done until then does no harm
// when it is done again.
func (c *Commands) Handle(
	ctx context.Context, con connection.Connection, host codehost.Host, p codehost.PullRequest, by codehost.Comment,
) error {
	commands := Parse(by.Body)
	if len(commands) == 0 || by.ID == "" {
		return nil
	}
	name := nameOf(by)
	known, err := c.store.KnowsCommand(ctx, con.Organization, con.ID, name)
	if err != nil || known {
		return err
	}
	may, err := host.MayCommand(ctx, p.Repository, by)
	if err != nil {
		return err
	}
	if !may { // also later: they meant what they saw then
		c.log.InfoContext(ctx, "command of somebody who may not write", "connection_id", con.ID, "comment_id", by.ID)
		_, err = c.store.KeepCommand(ctx, con.Organization, con.ID, name)

		return err
	}

	ctx = audit.NewContext(ctx, audit.Actor{Kind: audit.Host, ID: string(con.Kind) + "/" + by.Author})
	answer := codehost.Done
	for _, x := range commands {
		err := c.do(ctx, con, host, p, x, name)
		if passes(err) {
			return err
		}
		if err != nil {
			answer = codehost.Refused
			c.log.InfoContext(ctx, "command refused", "connection_id", con.ID, "comment_id", by.ID, "error", err)
		}
	}
	if err := host.Acknowledge(ctx, p, by, answer); hostPasses(err) {
		return err
	}
	_, err = c.store.KeepCommand(ctx, con.Organization, con.ID, name)

	return err
}

// nameOf is the name of a comment. Comments on lines have numbers of their own.
func nameOf(by codehost.Comment) string {
	if by.OnLine {
		return "line-comment:" + by.ID
	}

	return "comment:" + by.ID
}

// errRefused is why a command is not done.
var errRefused = errors.New("the command can't be done")

// do does one command. An error that does not pass is why it is refused.
func (c *Commands) do(
	ctx context.Context, con connection.Connection, host codehost.Host, p codehost.PullRequest, x Command, name string,
) error {
	switch {
	case x.Kind == Explain:
		return c.explain(ctx, con, host, p, x.RuleID)
	case p.State != codehost.Open:
		return fmt.Errorf("%w for a pull request that is %s", errRefused, p.State)
	case x.Kind == Rescan:
		return c.scans.Queue(ctx, con, p, name)
	case x.Kind == Ignore:
		_, _, err := c.triage.Set(ctx, con.Organization, triage.Change{
			Repo: p.Repository.Name, PRNumber: p.Number, Fingerprints: []string{x.Fingerprint},
			Decision: finding.Accepted, Reason: x.Reason, Until: x.Until,
		})

		return err
	}

	return errRefused
}

// explain adds a comment about a rule, once in a pull request. It is remembered first: a
// call without an answer may have added it.
func (c *Commands) explain(
	ctx context.Context, con connection.Connection, host codehost.Host, p codehost.PullRequest, id string,
) error {
	r, err := c.rule(ctx, con.Organization, p.Repository.Name, rule.FullID(id))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("explain:%s#%d:%s", p.Repository.Name, p.Number, r.FullID())
	first, err := c.store.KeepCommand(ctx, con.Organization, con.ID, name)
	if err != nil || !first {
		return err
	}

	err = host.Do(ctx, p, codehost.Step{Action: codehost.AddSummary, Body: explanation(r)})
	if err != nil && codehost.FaultOf(err) != codehost.Unknown {
		return errors.Join(err, c.store.ForgetCommand(context.WithoutCancel(ctx), con.Organization, con.ID, name))
	}

	return nil
}

// rule is one of a repository's rules.
func (c *Commands) rule(ctx context.Context, org, repo, id string) (rule.Rule, error) {
	set, err := c.rules.RulesFor(ctx, org, repo)
	if err != nil {
		return rule.Rule{}, err
	}
	own, err := c.rules.FileRules(ctx, org, repo)
	if err != nil {
		return rule.Rule{}, err
	}
	byID := rule.ByID(own)
	for full, r := range rule.ByID(set.Rules) {
		byID[full] = r
	}
	if r, ok := byID[id]; ok {
		return r, nil
	}

	return rule.Rule{}, errs.New(errs.NotFound, errs.ReasonRuleNotFound, "There is no rule %s.", id)
}

// maxExplanation is how much of a rule's text is shown, in bytes.
const maxExplanation = 4 << 10

// explanation is a rule as Markdown: its texts, which may be the repository's own, are
// code that nothing in them can end.
func explanation(r rule.Rule) string {
	lines := append([]string{r.Message}, r.References...)
	text := strings.Map(func(x rune) rune {
		if x != '\n' && (x < ' ' || x == 0x7f) {
			return ' '
		}

		return x
	}, errs.Cut(strings.Join(lines, "\n"), maxExplanation))
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}

	return fmt.Sprintf("**%s** `%s`\n\n%stext\n%s\n%s\n", r.Severity, r.FullID(), fence, text, fence)
}

// passes reports whether an error is one that trying again may help against.
func passes(err error) bool {
	var e *errs.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case errs.Internal, errs.Unavailable, errs.DeadlineExceeded, errs.Canceled, errs.ResourceExhausted:
			return true
		}

		return false
	}
	if errors.Is(err, errRefused) {
		return false
	}

	return hostPasses(err)
}

// hostPasses is passes for the error of a host: another error than its own passes.
func hostPasses(err error) bool {
	if err == nil {
		return false
	}
	switch codehost.FaultOf(err) {
	case codehost.Passing, codehost.Limited:
		return true
	}

	return false
}
