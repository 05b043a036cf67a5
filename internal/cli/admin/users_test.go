package admin_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/admin"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/organization"
)

// installation is a configuration with an SQLite database, and what commands said last.
type installation struct {
	config.Config
	out, err bytes.Buffer
}

func install(t *testing.T) *installation {
	t.Helper()
	i := &installation{Config: config.Default()}
	i.Database = "sqlite:" + filepath.Join(t.TempDir(), "prwarden.db")
	i.PublicURL = "https://prwarden.example.com/"

	return i
}

func (i *installation) streams() cli.Streams {
	i.out.Reset()
	i.err.Reset()

	return cli.Streams{Out: &i.out, Err: &i.err}
}

func typed(password string) func() (string, error) {
	return func() (string, error) { return password, nil }
}

func TestUsers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	i := install(t)
	ada := admin.UserInput{
		Organization: "default", Role: "owner", Email: "Ada@example.com", Name: "Ada", Create: true,
		Password: typed("violet Harbor 7 quilts"),
	}
	require.NoError(t, admin.CreateUser(ctx, i.streams(), i.Config, ada))
	assert.Empty(t, i.out.String())
	assert.Contains(t, i.err.String(), "ada@example.com is a member of organization default with the role owner")
	assert.NotContains(t, i.err.String(), "quilts")

	bob := admin.UserInput{Organization: "default", Role: "viewer", Email: "bob@example.com"}
	require.NoError(t, admin.CreateUser(ctx, i.streams(), i.Config, bob))
	assert.Regexp(t, `^https://prwarden\.example\.com/reset\?token=prw_\w{43}\n$`, i.out.String())
	assert.Equal(t, errs.AlreadyExists, errs.KindOf(admin.CreateUser(ctx, i.streams(), i.Config, bob)))

	require.NoError(t, admin.CreateOrganization(ctx, i.streams(), i.Config, "other", noChange, false))
	bob.Organization, bob.Role = "other", "admin"
	require.NoError(t, admin.CreateUser(ctx, i.streams(), i.Config, bob))
	assert.Empty(t, i.out.String(), "his password is his")
	assert.Contains(t, i.err.String(), "name and password stay as they were")

	require.NoError(t, admin.ListUsers(ctx, i.streams(), i.Config, ""))
	lines := strings.Split(i.out.String(), "\n")
	require.Len(t, lines, 4)
	assert.Regexp(t, `^usr_\w+ +ada@example\.com +Ada +active +default:owner +20\S+Z +never$`, lines[1])
	assert.Regexp(t, `^usr_\w+ +bob@example\.com +bob +active +default:viewer,other:admin `, lines[2])
	require.NoError(t, admin.ListUsers(ctx, i.streams(), i.Config, "other"))
	assert.NotContains(t, i.out.String(), "ada@")

	require.NoError(t, admin.ResetUser(ctx, i.streams(), i.Config, "ADA@example.com"))
	assert.Contains(t, i.out.String(), "/reset?token=prw_")
	require.NoError(t, admin.DisableUser(ctx, i.streams(), i.Config, "bob@example.com"))
	require.NoError(t, admin.ListUsers(ctx, i.streams(), i.Config, "other"))
	assert.Contains(t, i.out.String(), " disabled ")
	require.NoError(t, admin.EnableUser(ctx, i.streams(), i.Config, "bob@example.com"))
	require.NoError(t, admin.RemoveUser(ctx, i.streams(), i.Config, "bob@example.com"))
	require.NoError(t, admin.ListUsers(ctx, i.streams(), i.Config, ""))
	assert.NotContains(t, i.out.String(), "bob@")
	err := admin.RemoveUser(ctx, i.streams(), i.Config, "ada@example.com")
	assert.Equal(t, errs.ReasonLastOwner, errs.ReasonOf(err))
}

// noChange is an organization as it is by default.
func noChange(*organization.Organization) {}

func TestUsersSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	i := install(t)
	right := admin.UserInput{
		Organization: "default", Role: "owner", Email: "ada@example.com", Create: true, Password: typed("violet Harbor 7 quilts"),
	}
	for want, change := range map[string]func(*admin.UserInput){
		"--organization, --role and --email are required":    func(in *admin.UserInput) { in.Role = "" },
		"there is no role king":                              func(in *admin.UserInput) { in.Role = "king" },
		"there is no organization nobody; there are default": func(in *admin.UserInput) { in.Organization = "nobody" },
		"email: must be an address":                          func(in *admin.UserInput) { in.Email = "ada" },
		"password: must have 12 to 256 characters":           func(in *admin.UserInput) { in.Password = typed("short") },
		"no terminal": func(in *admin.UserInput) {
			in.Password = func() (string, error) { return "", errors.New("no terminal") }
		},
	} {
		in := right
		change(&in)
		err := admin.CreateUser(ctx, i.streams(), i.Config, in)
		require.ErrorContains(t, err, want)
		assert.Equal(t, cli.ExitUsage, cli.ExitCode(err), want)
	}

	require.NoError(t, admin.CreateUser(ctx, i.streams(), i.Config, right))
	require.ErrorContains(t, admin.DisableUser(ctx, i.streams(), i.Config, "x@example.com"), "there is no user with the email x@")
	i.PublicURL = ""
	require.ErrorContains(t, admin.ResetUser(ctx, i.streams(), i.Config, "ada@example.com"), "give --public-url")
	right.Password = nil
	require.ErrorContains(t, admin.CreateUser(ctx, i.streams(), i.Config, right), "give --public-url")
}
