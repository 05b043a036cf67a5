package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/store"
)

// AuditInput is what `audit` was asked for.
type AuditInput struct {
	Organization string // all when empty
	Action       string
	Actor        string
	Since, Until string // RFC 3339, a date, or an age
	Limit        int    // 0 for all
	Output       string // table or jsonl
}

// Audit prints events of the audit log, newest first.
func Audit(ctx context.Context, st cli.Streams, c config.Config, in AuditInput) error {
	list := audit.ListInput{Action: audit.Action(in.Action), Actor: in.Actor, PageSize: audit.MaxPageSize}
	if in.Action != "" && !slices.Contains(audit.Actions(), list.Action) {
		return cli.Usagef("there is no action %s; the actions are %s",
			terminal.Safe(in.Action), strings.Trim(fmt.Sprint(audit.Actions()), "[]"))
	}
	var err error
	if list.Since, err = moment("--since", in.Since); err != nil {
		return err
	}
	if list.Until, err = moment("--until", in.Until); err != nil {
		return err
	}

	printer, flush := auditTable(st.Out)
	switch in.Output {
	case "table":
	case "jsonl":
		printer, flush = auditLines(st.Out), func() error { return nil }
	default:
		return cli.Usagef("--output %s is not known; it is table or jsonl", terminal.Safe(in.Output))
	}
	if in.Limit < 0 {
		return cli.Usagef("--limit must be at least 0")
	}

	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		if in.Organization != audit.Installation {
			if err := checkOrganization(ctx, store, in.Organization); err != nil {
				return err
			}
		}
		if err := eachEvent(ctx, audit.NewService(store), in, list, printer); err != nil {
			return err
		}
		return flush()
	})
}

// eachEvent calls do for the events, page by page.
func eachEvent(
	ctx context.Context, service *audit.Service, in AuditInput, list audit.ListInput, do func(audit.Event) error,
) error {
	for n := 0; ; {
		events, next, err := service.List(ctx, in.Organization, list)
		if err != nil {
			return usageError(err)
		}
		for _, e := range events {
			if err := do(e); err != nil {
				return err
			}
			if n++; n == in.Limit {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		list.PageToken = next
	}
}

// auditTable prints events for people.
func auditTable(out io.Writer) (do func(audit.Event) error, flush func() error) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TIME\tORGANIZATION\tACTOR\tFROM\tACTION\tTARGET\tCHANGES")

	return func(e audit.Event) error {
		fields := make([]string, len(e.Fields))
		for i, f := range e.Fields {
			fields[i] = f.Name + "=" + f.After
			if f.Before != "" {
				fields[i] = fmt.Sprintf("%s: %s -> %s", f.Name, f.Before, cmp.Or(f.After, "(none)"))
			}
		}
		_, err := fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", date(e.At), terminal.Safe(e.Organization),
			terminal.Safe(e.Actor), cmp.Or(e.Address, "-"), e.Action, terminal.Safe(e.Target),
			terminal.Safe(strings.Join(fields, "; ")))
		return err
	}, t.Flush
}

// auditLines prints events as JSON, one on each line, in the fields of the API.
func auditLines(out io.Writer) func(audit.Event) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)

	return func(e audit.Event) error {
		return encoder.Encode(struct {
			ID           string        `json:"event_id"`
			Organization string        `json:"organization"`
			At           time.Time     `json:"at"`
			Actor        string        `json:"actor"`
			Address      string        `json:"address,omitempty"`
			Action       audit.Action  `json:"action"`
			Target       string        `json:"target"`
			Fields       []audit.Field `json:"fields"`
			RequestID    string        `json:"request_id,omitempty"`
		}{e.ID, e.Organization, e.At, e.Actor, e.Address, e.Action, e.Target, e.Fields, e.RequestID})
	}
}

// moment reads a time of a flag: RFC 3339, a date in UTC, or how long ago. It is
// the zero time for "".
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}

	age, err := config.ParseAge(text)
	if err != nil {
		return time.Time{}, cli.Usagef("%s %s is no time; write 2026-11-20, 2026-11-20T09:30:00Z, or an age such as 7d",
			flag, terminal.Safe(text))
	}
	return time.Now().Add(-time.Duration(age)), nil
}
