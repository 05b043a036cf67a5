package admin

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/store"
)

// OrganizationChange puts into an organization what the command line says.
type OrganizationChange func(o *organization.Organization)

// checked changes an organization and says what is wrong with it then.
func (change OrganizationChange) checked(c config.Config, o *organization.Organization) error {
	change(o)
	o.Host = o.Host.WithDefaults()

	var lines []string
	for _, p := range o.Validate() {
		lines = append(lines, p.Field+": "+p.Message)
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

	return withStore(ctx, st, c, create, func(store *store.Store) error {
		return told(st, name, "is there; running servers know it within 2 seconds", store.CreateOrganization(ctx, o))
	})
}

// UpdateOrganization changes an organization that no configuration file has.
func UpdateOrganization(
	ctx context.Context, st cli.Streams, c config.Config, name string, change OrganizationChange,
) error {
	return withStore(ctx, st, c, false, func(store *store.Store) error {
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

	return withStore(ctx, st, c, false, func(store *store.Store) error {
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
	return withStore(ctx, st, c, false, func(store *store.Store) error {
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
