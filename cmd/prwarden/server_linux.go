package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/organization"
)

// serverCommands are the commands that run the service.
func serverCommands(st cli.Streams) []*cobra.Command {
	return []*cobra.Command{
		newServe(st), newScanner(st), newMigrate(st), newBackup(st), newRestore(st), newKeys(st), newOrganizations(st),
		newUsers(st), newConnections(st, admin.Connections, newConnectionsReseal(st)), newAudit(st),
	}
}

func newServe(st cli.Streams) *cobra.Command {
	return noArgs(config.Serve, st, admin.Serve, &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server: the REST and gRPC APIs, the queue, and a scanner in the same
process (or, with --scanner, calls to scanners elsewhere).

Without a configuration file there is one organization, "default", which may
scan every public repository of github.com. The log goes to stderr as JSON; its
line "serving" has the addresses that were chosen. SIGTERM or SIGINT ends it in
good order, a second one at once.`,
		Example: `  # On SQLite in this folder, on the usual ports
  prwarden serve

  # On free ports, with organizations and hosts from a file
  prwarden serve --http-addr 127.0.0.1:0 --grpc-addr 127.0.0.1:0 \
      --config prwarden.yaml --database sqlite:/var/lib/prwarden/prwarden.db`,
	})
}

func newScanner(st cli.Streams) *cobra.Command {
	return noArgs(config.Scanner, st, admin.Scanner, &cobra.Command{
		Use:   "scanner",
		Short: "Run a scanner for servers elsewhere",
		Long: `Run a scanner by itself, under its own user or on its own machine. It is the
only part that touches the content of repositories, and it has neither the
database nor API keys. Servers call it when they are started with --scanner.

With each scan the server names the code host. The scanner needs the tokens of
those hosts in its environment, and no organizations in its configuration.`,
		Example: `  # Beside a server on the same machine
  prwarden scanner --config prwarden.yaml
  prwarden serve --config prwarden.yaml --scanner 127.0.0.1:9191

  # On its own machine, with certificates on both sides
  prwarden scanner --config prwarden.yaml --grpc-addr :9191 \
      --tls-cert scanner.pem --tls-key scanner.key --tls-ca servers-ca.pem`,
	})
}

func newMigrate(st cli.Streams) *cobra.Command {
	cmd := noArgs(config.Migrate, st, admin.Migrate, &cobra.Command{
		Use:   "migrate",
		Short: "Bring a database to this version's schema",
		Long: `Bring a database to the schema that this version of prwarden needs. A server
does this itself for an SQLite database when it starts, and for Postgres with
--migrate. Several may run at once: one does the work, the others wait. Make a
backup first: there is no way back.`,
		Example: `  prwarden migrate --database sqlite:/var/lib/prwarden/prwarden.db
  prwarden migrate --database postgres://prwarden@db.internal/prwarden`,
	})
	cmd.AddCommand(newMigrateStatus(st))
	return cmd
}

func newMigrateStatus(st cli.Streams) *cobra.Command {
	return noArgs(config.Migrate, st, admin.MigrationStatus, &cobra.Command{
		Use:   "status",
		Short: "Show the schema's version",
		Long: `Show the version of a database's schema, the version that this prwarden needs,
and the migrations that are pending. The exit code is 0 when this prwarden works
on the database as it is, and 3 when it does not. Nothing is changed.`,
		Example: `  prwarden migrate status --database postgres://prwarden@db.internal/prwarden`,
	})
}

func newBackup(st cli.Streams) *cobra.Command {
	return oneArg(config.Backup, st, admin.Backup, &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy an SQLite database while it is used",
		Long: `Copy an SQLite database into FILE, which must not exist. A server may use the
database meanwhile: the copy is its state at one moment. When the command ends
well, the copy has been read through. For Postgres use pg_dump, as
docs/operations/back-up.md shows.`,
		Example: `  prwarden backup --database sqlite:/var/lib/prwarden/prwarden.db \
      /var/backups/prwarden-$(date +%F).db`,
	})
}

func newRestore(st cli.Streams) *cobra.Command {
	var force bool
	restore := func(ctx context.Context, st cli.Streams, c config.Config, file string) error {
		return admin.Restore(ctx, st, c, file, force)
	}
	cmd := oneArg(config.Backup, st, restore, &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a backup the SQLite database",
		Long: `Make FILE, which "backup" made, the SQLite database. No server may use it. If
anything goes wrong the old database is as it was. Keys that were revoked since
the backup work again.`,
		Example: `  prwarden restore --database sqlite:/var/lib/prwarden/prwarden.db \
      --force /var/backups/prwarden-2026-11-20.db`,
	})
	cmd.Flags().BoolVar(&force, "force", false, "Replace the database that is there.")
	return cmd
}

func newKeys(st cli.Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:   "keys",
		Short: "Create, list and revoke API keys",
		Long: `Manage the API keys in a server's database. These commands open the database
themselves, while the server runs or before. A key belongs to one organization
and may do what its scopes say:

    reviews:read     read and watch reviews, and numbers about them
    reviews:write    start and cancel reviews
    rules:read       read rules
    rules:write      create, change and delete rules
    keys:admin       manage keys over the API
    policy:read      read the organization's policy
    policy:write     change it
    audit:read       read the audit log
    findings:triage  decide about findings
    hosts:read       read connections to code hosts
    hosts:write      make, change and delete them
    webhooks:read    read webhooks and their messages
    webhooks:write   make, change and delete webhooks
    source:read      see source code around findings
    members:admin    manage the members of the organization
    organization:admin
                     manage the organization itself`,
	}, newKeysCreate(st), newKeysList(st), newKeysRevoke(st))
}

func newKeysCreate(st cli.Streams) *cobra.Command {
	var in admin.KeyInput
	cmd := &cobra.Command{
		Use:   "create --org ORG --name NAME",
		Short: "Create an API key and print its token",
		Long: `Create an API key. Standard output is the token and nothing else: this is the
only time that it is shown, the database keeps its hash.`,
		Example: `  # A key for CI, kept in a file that only you can read
  (umask 077; prwarden keys create --org acme --name ci > prwarden.key)

  # A key that only reads, for 30 days
  prwarden keys create --org acme --name dashboard \
      --scopes reviews:read,rules:read --expires 720h`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Organization, "org", "", "`ORG` that the key belongs to.")
	flags.StringVar(&in.Name, "name", "", "`NAME` that tells the key from others.")
	flags.StringSliceVar(&in.Scopes, "scopes", nil, "`SCOPES`, separated by commas. (default "+
		"reviews:read,reviews:write,rules:read,rules:write)")
	flags.DurationVar(&in.Expires, "expires", 0, "The key works for this `TIME`, such as 720h. (default for ever)")
	flags.BoolVar(&in.Create, "create", false, "Make the SQLite database when it is not there.")
	flags.IntVar(&in.RateLimit, "rate-limit", 0,
		"`NUMBER` of requests a minute; those of all its organization's keys have a limit, too. (default 60)")
	return noArgs(config.Keys, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return admin.CreateKey(ctx, st, c, in)
	}, cmd)
}

func newKeysList(st cli.Streams) *cobra.Command {
	var org string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys, those that work first",
		Long: `List the keys with their state: active, expired or revoked. Keys that do not
work any more are listed for 90 days.`,
		Example: `  prwarden keys list --org acme`,
	}
	cmd.Flags().StringVar(&org, "org", "", "Only keys of this `ORG`.")
	return noArgs(config.Keys, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return admin.ListKeys(ctx, st, c, org)
	}, cmd)
}

func newKeysRevoke(st cli.Streams) *cobra.Command {
	var children bool
	revoke := func(ctx context.Context, st cli.Streams, c config.Config, id string) error {
		return admin.RevokeKey(ctx, st, c, id, children)
	}
	cmd := oneArg(config.Keys, st, revoke, &cobra.Command{
		Use:   "revoke KEY",
		Short: "Revoke a key; running servers refuse it within 5 seconds",
		Example: `  prwarden keys revoke key_3j9x0a7c5v1m

  # With all keys that it made over the API, and those that these made
  prwarden keys revoke key_3j9x0a7c5v1m --with-children`,
	})
	cmd.Flags().BoolVar(&children, "with-children", false, "Revoke the keys that it made, too.")
	return cmd
}

func newAudit(st cli.Streams) *cobra.Command {
	var in admin.AuditInput
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show who changed keys, rules, policies and organizations",
		Long: `Show the audit log, newest first: who changed keys, rules, policies and
organizations, over the API and on the command line. The command opens the
database itself, while the server runs or before. Reviews are not in the log;
each says who created it.`,
		Example: `  # What happened in the last week
  prwarden audit --since 7d

  # Every event of an organization, for another system
  prwarden audit --org acme --limit 0 -o jsonl

  # What one key did
  prwarden audit --actor key:key_3j9x0a7c5v1m`,
	}
	flags := cmd.Flags()
	flags.StringVar(&in.Organization, "org", "", "Only events of this `ORG`.")
	flags.StringVar(&in.Action, "action", "", "Only this `ACTION`, such as key.create.")
	flags.StringVar(&in.Actor, "actor", "", "Only this `ACTOR`, such as key:KEY or cli:USER@HOST.")
	flags.StringVar(&in.Since, "since", "", "Only events since this `TIME`: RFC 3339, a date, or an age such as 7d.")
	flags.StringVar(&in.Until, "until", "", "Only events before this `TIME`.")
	flags.IntVar(&in.Limit, "limit", 100, "Show at most `N`; 0 for all.")
	flags.StringVarP(&in.Output, "output", "o", "table", "How to show them, `table|jsonl`.")
	return noArgs(config.Keys, st, func(ctx context.Context, st cli.Streams, c config.Config) error {
		return admin.Audit(ctx, st, c, in)
	}, cmd)
}

func newConnectionsReseal(st cli.Streams) *cobra.Command {
	return noArgs(config.Connections, st, admin.ResealConnections, &cobra.Command{
		Use:   "reseal",
		Short: "Seal the secrets of all connections by the first key",
		Long: `Seal the secrets of all connections of a server's database by the first of its
keys. Do so after a new key was put before the old one in secrets.keys, and the
servers were restarted; then the old one can go.`,
		Example: `  prwarden connections reseal --config prwarden.yaml`,
	})
}

func newOrganizations(st cli.Streams) *cobra.Command {
	return group(&cobra.Command{
		Use:   "organizations",
		Short: "Create, list, update and remove organizations",
		Long: `Manage the organizations in a server's database: which repositories the keys of
each may scan, and the code host that they are on. What a configuration file
declares can be changed in that file only.`,
	}, newOrganizationsCreate(st), newOrganizationsList(st), newOrganizationsUpdate(st), newOrganizationsRemove(st))
}

// organizationFlags adds the flags of an organization's settings. What it
// returns puts those that were given into an organization.
func organizationFlags(flags *pflag.FlagSet) admin.OrganizationChange {
	var in organization.Organization
	flags.StringSliceVar(&in.Repositories, "repositories", nil,
		"`GLOBS` of OWNER/NAME that may be scanned, separated by commas. (default all)")
	flags.StringVar(&in.Host.URL, "host-url", organization.DefaultURL,
		"`URL` that a repository is cloned from, with {repo} in its path.")
	flags.StringVar(&in.Host.TokenEnv, "host-token-env", "",
		"Environment `VARIABLE` with the token for private repositories.")
	flags.StringVar(&in.Host.Username, "host-username", "",
		"`NAME` that goes with the token. (default "+organization.DefaultUsername+")")
	flags.StringVar(&in.Host.HeadRef, "host-head-ref", organization.DefaultHeadRef,
		"`REF` of a pull request's head.")
	flags.StringVar(&in.Host.MergeRef, "host-merge-ref", organization.DefaultMergeRef,
		"`REF` of its trial merge.")
	flags.IntVar(&in.MaxScans, "max-scans", 0, "Scan at most `N` of its reviews at once. (default no limit)")
	flags.IntVar(&in.RateLimit, "rate-limit", 0, "At most `N` requests a minute of all its keys together. (default 6000)")
	flags.IntVar(&in.MaxQueued, "max-queued", 0, "At most `N` of its reviews wait. (default 10000)")

	return func(o *organization.Organization) {
		for flag, set := range map[string]func(){
			"repositories":   func() { o.Repositories = in.Repositories },
			"host-url":       func() { o.Host.URL = in.Host.URL },
			"host-token-env": func() { o.Host.TokenEnv = in.Host.TokenEnv },
			"host-username":  func() { o.Host.Username = in.Host.Username },
			"host-head-ref":  func() { o.Host.HeadRef = in.Host.HeadRef },
			"host-merge-ref": func() { o.Host.MergeRef = in.Host.MergeRef },
			"max-scans":      func() { o.MaxScans = in.MaxScans },
			"rate-limit":     func() { o.RateLimit = in.RateLimit },
			"max-queued":     func() { o.MaxQueued = in.MaxQueued },
		} {
			if flags.Changed(flag) {
				set()
			}
		}
	}
}

func newOrganizationsCreate(st cli.Streams) *cobra.Command {
	var create bool
	cmd := &cobra.Command{
		Use:   "create ORG",
		Short: "Create an organization",
		Long:  `Create an organization. Without flags it has every repository of github.com.`,
		Example: `  prwarden organizations create acme --repositories 'acme/*' \
      --host-url 'https://git.example.com/{repo}.git' \
      --host-token-env PRWARDEN_ACME_TOKEN`,
	}
	change := organizationFlags(cmd.Flags())
	cmd.Flags().BoolVar(&create, "create", false, "Make the SQLite database when it is not there.")
	return oneArg(config.Organizations, st, func(ctx context.Context, st cli.Streams, c config.Config, org string) error {
		return admin.CreateOrganization(ctx, st, c, org, change, create)
	}, cmd)
}

func newOrganizationsList(st cli.Streams) *cobra.Command {
	return noArgs(config.Organizations, st, admin.ListOrganizations, &cobra.Command{
		Use:     "list",
		Short:   "List the organizations",
		Example: `  prwarden organizations list --config prwarden.yaml`,
	})
}

func newOrganizationsUpdate(st cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "update ORG",
		Short:   "Change an organization that no configuration file declares",
		Example: `  prwarden organizations update acme --repositories 'acme/*,shared/tools'`,
	}
	change := organizationFlags(cmd.Flags())
	return oneArg(config.Organizations, st, func(ctx context.Context, st cli.Streams, c config.Config, org string) error {
		return admin.UpdateOrganization(ctx, st, c, org, change)
	}, cmd)
}

func newOrganizationsRemove(st cli.Streams) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "remove ORG --yes",
		Short: "End an organization and delete everything of it",
		Long: `End an organization: its keys stop working, its waiting reviews are canceled,
and then every review and rule of it is deleted, a little at a time. When it is
interrupted, run it again. There is no way back but a backup. What a configuration
file declares must be removed there first.`,
		Example: `  prwarden organizations remove acme --yes`,
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "It is meant.")
	return oneArg(config.Organizations, st, func(ctx context.Context, st cli.Streams, c config.Config, org string) error {
		return admin.RemoveOrganization(ctx, st, c, org, yes)
	}, cmd)
}
