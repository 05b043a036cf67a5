package admin

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/store"
)

// KeyInput is what `keys create` was asked for.
type KeyInput struct {
	Organization string
	Name         string
	Scopes       []string      // the default ones when empty
	Expires      time.Duration // from now; 0 for never
	RateLimit    int           // requests a minute; 0 for the default
	Create       bool          // make an SQLite database that is not there
}

// CreateKey makes a key and prints its token, alone, on st.Out. It works
// beside a running server, and before the first one ran.
func CreateKey(ctx context.Context, st cli.Streams, c config.Config, in KeyInput) error {
	if in.Organization == "" || in.Name == "" {
		return cli.Usagef("--org and --name are required")
	}
	if in.Expires < 0 {
		return cli.Usagef("--expires %v is in the past", in.Expires)
	}
	n := auth.NewKey{Name: in.Name, RateLimit: in.RateLimit}
	for _, s := range in.Scopes {
		n.Scopes = append(n.Scopes, auth.Scope(s))
	}

	return withStore(ctx, st, c, in.Create, func(ctx context.Context, store *store.Store) error {
		if err := checkOrganization(ctx, store, in.Organization); err != nil {
			return err
		}
		keys := newKeys(store)
		if in.Expires > 0 {
			n.ExpiresAt = keys.Now().Add(in.Expires)
		}
		key, token, err := keys.Issue(ctx, in.Organization, n)
		if err != nil {
			return usageError(err)
		}

		fmt.Fprintf(st.Err, "key %s of organization %s, scopes %s, expires: %s\n",
			key.ID, terminal.Safe(key.Organization), scopeList(key.Scopes), date(key.ExpiresAt))
		_, err = fmt.Fprintln(st.Out, token)
		return err
	})
}

// checkOrganization fails with a sentence that names the organizations there
// are when there is none of this name. "" stands for all of them.
func checkOrganization(ctx context.Context, store *store.Store, name string) error {
	if name == "" {
		return nil
	}
	list, err := store.Organizations(ctx)
	if err != nil {
		return err
	}

	var names []string
	for _, o := range list {
		names = append(names, o.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	return cli.Usagef("there is no organization %s; there are %s, and `prwarden organizations create` makes one",
		terminal.Safe(name), strings.Join(names, ", "))
}

// ListKeys prints the keys of an organization, or of all for "", those that work
// first.
func ListKeys(ctx context.Context, st cli.Streams, c config.Config, org string) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		if err := checkOrganization(ctx, store, org); err != nil {
			return err
		}
		keys := newKeys(store)
		list, err := keys.List(ctx, org)
		if err != nil {
			return usageError(err)
		}

		now := keys.Now()
		t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "KEY\tSTATE\tORGANIZATION\tNAME\tSCOPES\tRATE\tCREATED\tCREATED BY\tEXPIRES\tLAST USED")
		for _, k := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d/min\t%s\t%s\t%s\t%s\n", k.ID, k.State(now),
				terminal.Safe(k.Organization), terminal.Safe(k.Name), scopeList(k.Scopes), k.Limit(), date(k.CreatedAt),
				terminal.Safe(k.CreatedBy), date(k.ExpiresAt), date(k.LastUsedAt))
		}
		return t.Flush()
	})
}

// RevokeKey revokes a key of any organization by its identifier, and with children
// all that descend from it.
func RevokeKey(ctx context.Context, st cli.Streams, c config.Config, id string, children bool) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		revoked, err := newKeys(store).Revoke(ctx, "", id, children)
		if err != nil {
			return usageError(err)
		}

		for _, key := range slices.Sorted(slices.Values(revoked)) {
			fmt.Fprintf(st.Err, "key %s is revoked; running servers refuse it within 5 seconds\n", terminal.Safe(key))
		}
		if !slices.Contains(revoked, id) {
			fmt.Fprintf(st.Err, "key %s was revoked before\n", terminal.Safe(id))
		}
		return nil
	})
}

func newKeys(store *store.Store) *auth.Keys {
	return auth.NewKeys(store, store.Now, slog.New(slog.DiscardHandler))
}

// usageError makes a wrong argument a mistake in how the command was called.
func usageError(err error) error {
	if kind := errs.KindOf(err); kind == errs.InvalidArgument || kind == errs.NotFound {
		return &cli.UsageError{Err: err}
	}
	return err
}

func scopeList(scopes []auth.Scope) string {
	words := make([]string, len(scopes))
	for i, s := range scopes {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

func date(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.UTC().Format(time.RFC3339)
}

// OrganizationChange puts into an organization what the command line says.
type OrganizationChange func(o *organization.Organization)

// checked changes an organization and says what is wrong with it then.
func (change OrganizationChange) checked(c config.Config, o *organization.Organization) error {
	change(o)
	o.Host = o.Host.WithDefaults()

	var lines []string
	for _, p := range o.Validate() {
		lines = append(lines, p.Field+": "+p.Description)
	}
	if o.Host.TokenEnv != "" {
		if err := c.CheckTokenEnv(o.Host.TokenEnv); err != nil {
			lines = append(lines, "host.token_env: "+err.Error())
		}
	}
	if len(lines) > 0 {
		return cli.Usagef("%s", strings.Join(lines, "\n"))
	}
	return nil
}

// CreateOrganization makes an organization. create makes an SQLite database that
// is not there.
func CreateOrganization(
	ctx context.Context, st cli.Streams, c config.Config, name string, change OrganizationChange, create bool,
) error {
	o := organization.NewDefault()
	o.Name = name
	if err := change.checked(c, &o); err != nil {
		return err
	}

	return withStore(ctx, st, c, create, func(ctx context.Context, store *store.Store) error {
		return told(st, name, "is there; running servers know it within 2 seconds", store.CreateOrganization(ctx, o))
	})
}

// UpdateOrganization changes an organization that no configuration file has.
func UpdateOrganization(
	ctx context.Context, st cli.Streams, c config.Config, name string, change OrganizationChange,
) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		err := store.UpdateOrganization(ctx, name, func(o *organization.Organization) error { return change.checked(c, o) })
		return told(st, name, "is changed; running servers know it within 2 seconds", err)
	})
}

// RemoveOrganization ends an organization and deletes everything of it. yes says
// that it was meant.
func RemoveOrganization(ctx context.Context, st cli.Streams, c config.Config, name string, yes bool) error {
	if !yes {
		return cli.Usagef("this deletes every review, rule and key of the organization %s; say --yes if that is meant",
			terminal.Safe(name))
	}

	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		n, err := store.RemoveOrganization(ctx, name, auth.RevokedWithin)
		return told(st, name, fmt.Sprintf("is gone: %d reviews, %d keys, and its rules",
			n.Reviews, n.Keys), err)
	})
}

// told says what has become of an organization, or whose error it is.
func told(st cli.Streams, name, what string, err error) error {
	if err != nil {
		return fmt.Errorf("organization %s: %w", terminal.Safe(name), err)
	}
	_, err = fmt.Fprintf(st.Err, "organization %s %s\n", terminal.Safe(name), what)
	return err
}

// ListOrganizations prints all organizations with what each has.
func ListOrganizations(ctx context.Context, st cli.Streams, c config.Config) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		list, err := store.OrganizationUsage(ctx)
		if err != nil {
			return err
		}

		t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "ORGANIZATION\tDECLARED\tREPOSITORIES\tHOST\tREVIEWS\tQUEUED\tRUNNING\tRULES\tKEYS\tLAST REVIEW")
		for _, o := range list {
			declared := "no"
			if o.Declared {
				declared = "yes"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", terminal.Safe(o.Name), declared,
				terminal.Safe(strings.Join(o.Repositories, ",")), terminal.Safe(o.Host.URL), o.Reviews, o.Queued, o.Running,
				o.Rules, o.Keys, date(o.LastReview))
		}
		return t.Flush()
	})
}
