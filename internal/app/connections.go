package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/bitbucket"
	"github.com/prwarden/prwarden/internal/codehost/bitbucketserver"
	"github.com/prwarden/prwarden/internal/codehost/gitea"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/codehost/gitlab"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/seal"
	"github.com/prwarden/prwarden/internal/store"
)

// hostsByKind are the code hosts that connections can lead to.
func hostsByKind() connection.Factory {
	likeGitea := func(o connection.Options) (codehost.Host, error) {
		return gitea.New(gitea.Options{
			Client: o.Client, URL: o.Connection.URL, APIURL: o.Connection.APIURL, Token: o.Secrets.Token,
			GitToken: o.Secrets.GitToken,
		}), nil
	}

	return connection.Factory{
		codehost.Gitea: likeGitea, codehost.Forgejo: likeGitea,
		codehost.GitLab: func(o connection.Options) (codehost.Host, error) {
			return gitlab.New(gitlab.Options{
				Client: o.Client, URL: o.Connection.URL, APIURL: o.Connection.APIURL, Token: o.Secrets.Token,
				GitToken: o.Secrets.GitToken,
			}), nil
		},
		codehost.BitbucketCloud: func(o connection.Options) (codehost.Host, error) {
			return bitbucket.New(bitbucket.Options{
				Client: o.Client, URL: o.Connection.URL, APIURL: o.Connection.APIURL, Token: o.Secrets.Token,
				GitToken: o.Secrets.GitToken, Account: o.Connection.Account, Workspaces: o.Connection.Owners(),
			})
		},
		codehost.BitbucketServer: func(o connection.Options) (codehost.Host, error) {
			return bitbucketserver.New(bitbucketserver.Options{
				Client: o.Client, URL: o.Connection.URL, APIURL: o.Connection.APIURL, Token: o.Secrets.Token,
				GitToken: o.Secrets.GitToken,
			}), nil
		},
		codehost.GitHub: func(o connection.Options) (codehost.Host, error) {
			return github.New(github.Options{
				Client: o.Client, URL: o.Connection.URL, APIURL: o.Connection.APIURL, Token: o.Secrets.Token,
				GitToken: o.Secrets.GitToken, AppID: o.Connection.AppID, Installation: o.Connection.Installation,
				Account: o.Connection.Account, PrivateKey: o.Secrets.PrivateKey,
			})
		},
	}
}

// githubApps makes GitHub Apps of manifests.
type githubApps struct{}

// maxAppName is how long GitHub lets the name of an App be, in characters.
const maxAppName = 34

// Form implements connection.Apps.
func (githubApps) Form(
	s connection.Setup, place connection.SetupPlace, state string,
) (action, manifest string, err error) {
	name := "prwarden-" + s.Account
	organization := s.Account
	if s.Personal {
		organization = ""
	}
	text, err := json.Marshal(github.NewManifest(name[:min(len(name), maxAppName)], place.Public, place.Hook, place.Done))

	return github.ManifestURL(s.URL, organization, state), string(text), err
}

// Complete implements connection.Apps.
func (githubApps) Complete(ctx context.Context, o connection.Options, code string) (connection.App, error) {
	app, err := github.CompleteManifest(ctx, github.Options{
		Client: o.Client, URL: o.Connection.URL, APIURL: o.Connection.APIURL,
	}, code)

	return connection.App{
		ID: app.ID, Owner: app.Owner, URL: app.URL, PrivateKey: app.PrivateKey, WebhookSecret: app.WebhookSecret,
	}, err
}

// OpenConnections makes the service of connections over a store that has the schema of
// this program, and stores those that the configuration file declares. An error is a
// sentence for the operator.
func OpenConnections(
	ctx context.Context, c config.Config, env Environment, store *store.Store, log *slog.Logger,
) (*connection.Service, error) {
	sealer, err := newSealer(c, env, log)
	if err != nil {
		return nil, err
	}
	guard := c.Guard()
	service := connection.NewService(connection.Config{
		Store: store, Sealer: sealer, Hosts: hostsByKind(), Client: guard.Client(), TrustedClient: egress.NewTrustedClient(),
		Listed: guard.Lists, Apps: githubApps{}, PublicURL: c.PublicURL, Log: log,
	})

	known, err := store.Organizations(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range c.Connections {
		if !slices.ContainsFunc(known, func(o organization.Organization) bool { return o.Name == d.Organization }) {
			return nil, fmt.Errorf("the connection %q of the configuration file is of the organization %q, which there is not",
				d.Name, d.Organization)
		}
	}

	return service, service.Declare(ctx, c.Connections, env)
}

// newSealer seals the secrets of connections by the keys of the configuration, or by one
// in a file beside an SQLite database.
func newSealer(c config.Config, env Environment, log *slog.Logger) (*seal.Sealer, error) {
	database := strings.TrimPrefix(c.Database, "sqlite:")
	if len(c.SecretKeys) > 0 || c.Shared() {
		sealer, err := seal.Load(c.SecretKeys, env)
		if err != nil || c.Shared() {
			return sealer, err
		}

		return sealer.Or(database), nil
	}

	return seal.Beside(database, func(file string) {
		log.Warn("made the file of the key that seals the secrets of connections; back it up, and not beside the database",
			"file", file)
	}), nil
}
