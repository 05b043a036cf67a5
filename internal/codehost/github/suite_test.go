package github_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/codehost/github"
	"github.com/prwarden/prwarden/internal/dev/hosttest"
	"github.com/prwarden/prwarden/internal/dev/hosttest/githubfake"
)

// options are those of the App, or of the owner of a token.
func options(url string, app bool) github.Options {
	if app {
		return github.Options{
			URL: url, AppID: githubfake.AppID, Installation: githubfake.Installation, PrivateKey: githubfake.PrivateKey(),
		}
	}

	return github.Options{URL: url, Token: hosttest.Token}
}

// checked is a fake whose requests `make test-hosts` checks against GitHub's documents.
var checked = func(fake *githubfake.Fake) hosttest.Fake { return fake }

// fixture is GitHub with an App, or a token.
func fixture(app bool) hosttest.Fixture {
	return hosttest.Fixture{
		Traits: hosttest.Traits{
			Annotations: app, Replies: true, Unsent: true, Closes: true,
			Events: []hosttest.Event{
				hosttest.Opened, hosttest.Pushed, hosttest.Reopened, hosttest.Retargeted, hosttest.Ready,
				hosttest.Labeled, hosttest.Closed, hosttest.Commented, hosttest.LineCommented, hosttest.CommentEdited,
				hosttest.Renamed, hosttest.MergeGroup, hosttest.Other,
			},
		},
		New: func(testing.TB) hosttest.Fake { return checked(githubfake.New(app)) },
		Open: func(t testing.TB, url string, _ hosttest.Fake) codehost.Host {
			h, err := github.New(options(url, app))
			require.NoError(t, err)
			return h
		},
	}
}

func TestSuiteOfApp(t *testing.T) {
	t.Parallel()
	f := fixture(true)
	f.Traits.Events = append(f.Traits.Events, hosttest.Rerun) // only Apps can run checks again
	hosttest.Run(t, f)
}

func TestSuiteOfToken(t *testing.T) {
	t.Parallel()
	hosttest.Run(t, fixture(false))
}
