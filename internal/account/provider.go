package account

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// OIDC is an identity provider at which people sign in, as the operator declares it.
type OIDC struct {
	Name            string      `yaml:"name"`   // for people
	Issuer          string      `yaml:"issuer"` // URL, exactly as the provider spells it
	ClientID        string      `yaml:"client_id"`
	ClientSecretEnv string      `yaml:"client_secret_env"` // variable; "" for a client without a secret
	Scopes          []string    `yaml:"scopes"`            // beside openid, email and profile
	GroupsClaim     string      `yaml:"groups_claim"`      // claim with the groups; "" for none
	Roles           []GroupRole `yaml:"roles"`
	Only            bool        `yaml:"only"`        // whether nobody signs in with a password
	BreakGlass      string      `yaml:"break_glass"` // email of who may all the same
}

// GroupRole gives the people of a group a role in an organization.
type GroupRole struct {
	Group        string    `yaml:"group"`
	Organization string    `yaml:"organization"`
	Role         auth.Role `yaml:"role"`
}

// Validate returns what is wrong with it, nil for nothing.
func (o OIDC) Validate() errs.Violations {
	var bad errs.Violations
	issuer, err := url.Parse(o.Issuer)
	switch {
	case err != nil || issuer.Host == "" || issuer.RawQuery != "" || issuer.Fragment != "" || issuer.User != nil:
		bad.Add("issuer", "%q is not the address of an identity provider; write one such as https://id.example.com",
			o.Issuer)
	case issuer.Scheme != "https" && (issuer.Scheme != "http" || !isLoopback(issuer.Hostname())):
		bad.Add("issuer", "%q must begin with https://, unless it is on this machine", o.Issuer)
	}
	if o.ClientID == "" {
		bad.Add("client_id", "it is missing; the identity provider gave it")
	}
	if o.GroupsClaim == "" && len(o.Roles) > 0 {
		bad.Add("groups_claim", "it is missing; roles need the claim that has the groups")
	}
	if o.BreakGlass != "" {
		var email errs.Violations
		checkEmail(&email, CleanEmail(o.BreakGlass))
		for _, v := range email {
			bad.Add("break_glass", "%s", v.Description)
		}
	}
	for i, r := range o.Roles {
		at := fmt.Sprintf("roles[%d].", i)
		if r.Group == "" {
			bad.Add(at+"group", "it is missing")
		}
		if r.Organization == "" {
			bad.Add(at+"organization", "it is missing")
		}
		if !slices.Contains(auth.Roles(), r.Role) {
			bad.Add(at+"role", "there is no role %q; the roles are viewer, member, admin and owner", r.Role)
		}
	}

	return bad
}

func isLoopback(host string) bool {
	return slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, host)
}

// Managed returns the organizations in which groups decide about roles, sorted.
func (o OIDC) Managed() (all []string) {
	for _, r := range o.Roles {
		all = append(all, r.Organization)
	}
	slices.Sort(all)

	return slices.Compact(all)
}

// RolesOf returns the strongest role that groups have in each organization.
func (o OIDC) RolesOf(groups []string) map[string]auth.Role {
	found := map[string]auth.Role{}
	strength := func(r auth.Role) int { return slices.Index(auth.Roles(), r) }
	for _, r := range o.Roles {
		if slices.Contains(groups, r.Group) && strength(r.Role) > strength(found[r.Organization]) {
			found[r.Organization] = r.Role
		}
	}

	return found
}

// Identity is what an identity provider says of a person.
type Identity struct {
	Issuer, Subject string
	Email           string // "" unless the provider has verified it and it counts
	BreakGlass      bool   // the email is verified, and that of who signs in with a password always
	Name            string
	ShownAt         time.Time // when he showed the provider who he is; zero for not known

	Managed []string             // organizations in which groups decide, sorted
	Roles   map[string]auth.Role // that the groups have there

	// New is who is made when the person is invited; Service.SignInBy fills it.
	New User
}

// Claim is what a provider says of a person.
type Claim struct{ Name, Value string }

// Trial is what came of a sign-in that somebody tried. Nobody was signed in by it, and
// nothing was stored.
type Trial struct {
	UserID   string // who began it
	ReturnTo string
	Claims   []Claim              // by name; none of them is a token
	Email    string               // that counts; "" unless the provider has verified it
	Roles    map[string]auth.Role // that the groups would give, by organization

	// BreakGlass says that the email is that of who signs in with a password always.
	BreakGlass bool
}

// SignInBy begins a session of a person whom an identity provider vouches for, and
// returns its token. It fails as Store.SignInAs does.
func (s *Service) SignInBy(ctx context.Context, from Client, i Identity) (token string, err error) {
	i.Email = CleanEmail(i.Email)
	if i.Email != "" {
		local, _, _ := strings.Cut(i.Email, "@")
		if i.New, err = NewUser(i.Email, cmp.Or(shortName(i.Name), shortName(local))); err != nil {
			i.Email = "" // it is no address, so nobody is known or invited by it
		}
	}
	u, err := s.store.SignInAs(actingAs(ctx, User{}, from), i)
	s.sessions.lookup.Forget()
	if err != nil {
		s.log.Warn("a sign-in at the identity provider was refused", "address", from.Address, "error", err)
		return "", err
	}

	now := s.now()
	freshUntil := now
	if until := i.ShownAt.Add(FreshFor); until.After(now) {
		freshUntil = now.Add(min(FreshFor, until.Sub(now)))
	}

	return s.sessions.begin(actingAs(ctx, u, from), u.ID, ByProvider, from, freshUntil)
}

// shortName makes what a provider says a name.
func shortName(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	runes := []rune(strings.TrimSpace(text))

	return strings.TrimSpace(string(runes[:min(len(runes), MaxName)]))
}

// RequireProvider lets nobody sign in with a password any more, but who has an email;
// "" for nobody at all. It is called before the service is used.
func (s *Service) RequireProvider(breakGlass string) {
	s.providerOnly, s.breakGlass = true, CleanEmail(breakGlass)
}

// passwordOf reports whether somebody may sign in with a password.
func (s *Service) passwordOf(email string) bool { return !s.providerOnly || email == s.breakGlass }

// needPassword fails with PermissionDenied (SINGLE_SIGN_ON_ONLY) for everybody else.
func (s *Service) needPassword(email string) error {
	if s.passwordOf(email) {
		return nil
	}

	return errs.New(errs.PermissionDenied, errs.ReasonSingleSignOnOnly,
		"Passwords are switched off here; sign in with single sign-on.")
}
