package admin

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/store"
)

// UserInput is what `users create` was asked for.
type UserInput struct {
	Organization, Role string
	Email              string
	Name               string // what is before the @ when empty
	Create             bool   // make an SQLite database that is not there

	// Password reads the password; nil for a link that sets it.
	Password func() (string, error)
}

// CreateUser makes a person a member of an organization, and a user unless there is one
// with the email. Without a password it prints, alone, on st.Out a link that sets one.
func CreateUser(ctx context.Context, st cli.Streams, c config.Config, in UserInput) error {
	if in.Organization == "" || in.Role == "" || in.Email == "" {
		return cli.Usagef("--organization, --role and --email are required")
	}
	m := account.Membership{Organization: in.Organization, Role: auth.Role(in.Role)}
	if len(m.Role.Scopes()) == 0 {
		return cli.Usagef("there is no role %s; the roles are viewer, member, admin and owner", terminal.Safe(in.Role))
	}
	local, _, _ := strings.Cut(in.Email, "@")
	p := account.Person{Email: in.Email, Name: cmp.Or(in.Name, local)}
	if in.Password == nil {
		if err := checkPublicURL(c); err != nil {
			return err
		}
	} else {
		var err error
		if p.Password, err = in.Password(); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			return &cli.UsageError{Err: err}
		}
	}

	return withStore(ctx, st, c, in.Create, func(ctx context.Context, store *store.Store) error {
		if err := checkOrganization(ctx, store, in.Organization); err != nil {
			return err
		}
		accounts := newAccounts(store)
		u, made, err := accounts.AddUser(ctx, m, p)
		if err != nil {
			return usageError(err)
		}

		fmt.Fprintf(st.Err, "%s is a member of organization %s with the role %s\n",
			terminal.Safe(u.Email), terminal.Safe(in.Organization), m.Role)
		if !made {
			_, err = fmt.Fprintln(st.Err, "there was a user with this email; name and password stay as they were")
			return err
		}
		if p.Password != "" {
			return nil
		}
		return printReset(ctx, st, c, accounts, u)
	})
}

func checkPublicURL(c config.Config) error {
	if c.PublicURL == "" {
		return cli.Usagef("a link needs the address of the server: give --public-url, such as https://prwarden.example.com")
	}
	return nil
}

// printReset prints, alone, on st.Out a link with which a user sets a password.
func printReset(
	ctx context.Context, st cli.Streams, c config.Config, accounts *account.Service, u account.User,
) error {
	token, expires, err := accounts.ResetLink(ctx, u.ID)
	if err != nil {
		return err
	}
	fmt.Fprintf(st.Err, "this link sets the password of %s once, until %s\n", terminal.Safe(u.Email), date(expires))
	_, err = fmt.Fprintln(st.Out, c.Page(account.ResetPath+token))
	return err
}

func newAccounts(store *store.Store) *account.Service {
	log := slog.New(slog.DiscardHandler)
	return account.NewService(store, account.NewSessions(store, store.Now, log), account.NewPasswords(),
		auth.NewLimiter(nil, store.Now), store.Now, log)
}

// ListUsers prints the users, those of an organization or all for "".
func ListUsers(ctx context.Context, st cli.Streams, c config.Config, org string) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		if err := checkOrganization(ctx, store, org); err != nil {
			return err
		}
		list, err := store.Users(ctx, org)
		if err != nil {
			return err
		}

		t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "USER\tEMAIL\tNAME\tSTATE\tROLES\tCREATED\tSIGNED IN")
		for _, f := range list {
			state := "active"
			if !f.User.DisabledAt.IsZero() {
				state = "disabled"
			}
			roles := make([]string, len(f.Memberships))
			for i, m := range f.Memberships {
				roles[i] = m.Organization + ":" + string(m.Role)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f.User.ID, terminal.Safe(f.User.Email),
				terminal.Safe(f.User.Name), state, terminal.Safe(strings.Join(roles, ",")), date(f.User.CreatedAt),
				date(f.User.LastSeenAt))
		}
		return t.Flush()
	})
}

// ResetUser prints a link with which a user sets a new password.
func ResetUser(ctx context.Context, st cli.Streams, c config.Config, email string) error {
	if err := checkPublicURL(c); err != nil {
		return err
	}
	return withUser(ctx, st, c, email, func(ctx context.Context, store *store.Store, u account.User) error {
		return printReset(ctx, st, c, newAccounts(store), u)
	})
}

// DisableUser keeps a user from signing in, and ends the sessions.
func DisableUser(ctx context.Context, st cli.Streams, c config.Config, email string) error {
	return withUser(ctx, st, c, email, func(ctx context.Context, store *store.Store, u account.User) error {
		return toldUser(st, u, "can't sign in any more; running servers end the sessions within 5 seconds",
			store.DisableUser(ctx, u.ID, true))
	})
}

// EnableUser lets a user sign in again.
func EnableUser(ctx context.Context, st cli.Streams, c config.Config, email string) error {
	return withUser(ctx, st, c, email, func(ctx context.Context, store *store.Store, u account.User) error {
		return toldUser(st, u, "can sign in", store.DisableUser(ctx, u.ID, false))
	})
}

// RemoveUser deletes a user.
func RemoveUser(ctx context.Context, st cli.Streams, c config.Config, email string) error {
	return withUser(ctx, st, c, email, func(ctx context.Context, store *store.Store, u account.User) error {
		return toldUser(st, u, "is gone; running servers end the sessions within 5 seconds", store.RemoveUser(ctx, u.ID))
	})
}

// withUser runs do with the user of an email.
func withUser(
	ctx context.Context, st cli.Streams, c config.Config, email string,
	do func(context.Context, *store.Store, account.User) error,
) error {
	return withStore(ctx, st, c, false, func(ctx context.Context, store *store.Store) error {
		u, ok, err := store.UserByEmail(ctx, account.CleanEmail(email))
		if err == nil && !ok {
			err = cli.Usagef("there is no user with the email %s; `prwarden users list` shows all", terminal.Safe(email))
		}
		if err != nil {
			return err
		}
		return do(ctx, store, u)
	})
}

// toldUser says what has become of a user, or whose error it is.
func toldUser(st cli.Streams, u account.User, what string, err error) error {
	if err != nil {
		return fmt.Errorf("user %s: %w", terminal.Safe(u.Email), err)
	}
	_, err = fmt.Fprintf(st.Err, "user %s %s\n", terminal.Safe(u.Email), what)
	return err
}
