package admin

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/store"
)

// ListOrganizations prints what the database has of each organization, and the
// organizations of the configuration that it has nothing of.
func ListOrganizations(ctx context.Context, st cli.Streams, c config.Config) error {
	return withSchema(ctx, c, func(store *store.Store) error {
		list, err := store.Organizations(ctx)
		if err != nil {
			return err
		}
		return organizationTable(st.Out, c, list)
	})
}

func organizationTable(w io.Writer, c config.Config, list []store.Organization) error {
	policy := c.Policy()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ORGANIZATION\tCONFIGURED\tREVIEWS\tQUEUED\tRUNNING\tRULES\tKEYS\tLAST REVIEW\tLAST CONFIGURED")
	for _, o := range list {
		configured := "no"
		if policy.Known(o.Name) {
			configured = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", terminal.Safe(o.Name), configured, o.Reviews, o.Queued, o.Running,
			o.Rules, o.Keys, date(o.LastReview), date(o.ConfiguredAt))
	}
	return t.Flush()
}

// PurgeOrganization deletes everything that the database has of an organization
// that is in no server's configuration. yes says that it was meant.
func PurgeOrganization(ctx context.Context, st cli.Streams, c config.Config, org string, yes bool) error {
	switch {
	case c.Policy().Known(org):
		return cli.Usagef("the configuration names the organization %s; remove it there first", terminal.Safe(org))
	case !yes:
		return cli.Usagef("this deletes every review, rule and key of the organization %s; say --yes if that is meant", terminal.Safe(org))
	}
	return withSchema(ctx, c, func(store *store.Store) error {
		shown := 0
		deleted, err := store.PurgeOrganization(ctx, org, review.Grace, func(reviews int) {
			if reviews >= shown+purgeShown {
				shown = reviews
				fmt.Fprintf(st.Err, "deleted %d reviews\n", reviews)
			}
		})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(st.Err, "deleted the organization %s: %d reviews with %d findings, %d keys, and its rules\n",
			terminal.Safe(org), deleted.Reviews, deleted.Findings, deleted.APIKeys)
		return err
	})
}

// purgeShown is after how many reviews a purge says how far it is.
const purgeShown = 10_000
