package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/store"
)

// OrganizationInput is what `organizations create` and `update` were asked for.
// Nil fields are left as they are, or have their defaults in a new organization.
type OrganizationInput struct {
	Repositories             *[]string
	URL, TokenEnv, Username  *string
	HeadRef, MergeRef        *string
	MaxScans, MaxQueued      *int
	RequireSuppressionReason *bool
}

// change puts into an organization what was asked for.
func (in OrganizationInput) change(c config.Config, o *organization.Organization) error {
	set(&o.Repositories, in.Repositories)
	set(&o.Host.URL, in.URL)
	set(&o.Host.TokenEnv, in.TokenEnv)
	set(&o.Host.Username, in.Username)
	set(&o.Host.HeadRef, in.HeadRef)
	set(&o.Host.MergeRef, in.MergeRef)
	set(&o.MaxScans, in.MaxScans)
	set(&o.MaxQueued, in.MaxQueued)
	set(&o.RequireSuppressionReason, in.RequireSuppressionReason)

	if o.Host.TokenEnv == "" && in.Username == nil {
		o.Host.Username = ""
	}
	o.Host = o.Host.WithDefaults()

	if problems := o.Validate(); len(problems) > 0 {
		lines := make([]string, len(problems))
		for i, p := range problems {
			lines[i] = p.Field + ": " + p.Message
		}

		return cli.Usagef("%s", strings.Join(lines, "\n"))
	}

	if o.Host.TokenEnv != "" {
		if err := c.CheckTokenEnv(o.Host.TokenEnv); err != nil {
			return cli.Usagef("host.token_env: %v", err)
		}
	}

	return nil
}

// set copies a value that was given.
func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// CreateOrganization makes an organization.
func CreateOrganization(
	ctx context.Context, st cli.Streams, c config.Config, name string, in OrganizationInput, create bool,
) error {
	o := organization.NewDefault()
	o.Name = name
	if err := in.change(c, &o); err != nil {
		return err
	}

	if create {
		if err := createSchema(ctx, st, c); err != nil {
			return err
		}
	}

	return withOrganizations(ctx, st, c, func(store *store.Store) error {
		if err := store.CreateOrganization(ctx, o); err != nil {
			return named(name, err)
		}
		_, err := fmt.Fprintf(st.Err, "organization %s is there; running servers know it within 2 seconds\n",
			terminal.Safe(name))

		return err
	})
}

// UpdateOrganization changes an organization that no configuration file has.
func UpdateOrganization(
	ctx context.Context, st cli.Streams, c config.Config, name string, in OrganizationInput,
) error {
	return withOrganizations(ctx, st, c, func(store *store.Store) error {
		if err := store.UpdateOrganization(ctx, name, func(o *organization.Organization) error {
			return in.change(c, o)
		}); err != nil {
			return named(name, err)
		}
		_, err := fmt.Fprintf(st.Err, "organization %s is changed; running servers know it within 2 seconds\n",
			terminal.Safe(name))

		return err
	})
}

// named says of which organization an error is.
func named(name string, err error) error {
	for _, known := range []error{organization.ErrExists, organization.ErrNotFound, organization.ErrDeclared} {
		if errors.Is(err, known) {
			return fmt.Errorf("organization %s: %w", terminal.Safe(name), known)
		}
	}

	return err
}

// ListOrganizations prints all organizations with what each has.
func ListOrganizations(ctx context.Context, st cli.Streams, c config.Config) error {
	return withOrganizations(ctx, st, c, func(store *store.Store) error {
		list, err := store.OrganizationUsage(ctx)
		if err != nil {
			return err
		}

		return organizationTable(st.Out, list)
	})
}

func organizationTable(w io.Writer, list []organization.Usage) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
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
}

// RemoveOrganization ends an organization and deletes everything of it. yes says
// that it was meant.
func RemoveOrganization(ctx context.Context, st cli.Streams, c config.Config, name string, yes bool) error {
	if !yes {
		return cli.Usagef("this deletes every review, rule and key of the organization %s; say --yes if that is meant",
			terminal.Safe(name))
	}

	return withOrganizations(ctx, st, c, func(store *store.Store) error {
		shown := 0
		removed, err := store.RemoveOrganization(ctx, name, auth.RevokedWithin, func(reviews int) {
			if reviews >= shown+removalShown {
				shown = reviews
				fmt.Fprintf(st.Err, "deleted %d reviews\n", reviews)
			}
		})
		if err != nil {
			return named(name, err)
		}
		_, err = fmt.Fprintf(st.Err, "organization %s is gone: %d reviews with %d findings, %d keys, and its rules\n",
			terminal.Safe(name), removed.Reviews, removed.Findings, removed.Keys)

		return err
	})
}

// removalShown is after how many reviews a removal says how far it is.
const removalShown = 10_000

// withOrganizations runs do with the configured database, after it has what the
// configuration file declares.
func withOrganizations(ctx context.Context, st cli.Streams, c config.Config, do func(*store.Store) error) error {
	return withSchema(ctx, c, func(store *store.Store) error {
		log := slog.New(slog.NewTextHandler(st.Err, nil))
		if err := organization.Apply(ctx, store, c.Organizations, log); err != nil {
			return err
		}

		return do(store)
	})
}
