// Package account is the people who use an installation: how they sign in, their
// sessions, and in which organizations they are members with which role.
package account

import (
	"context"
	"crypto/rand"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// How long things last.
const (
	SessionIdle = 12 * time.Hour      // a session that is not used
	SessionLife = 14 * 24 * time.Hour // any session
	FreshFor    = 10 * time.Minute    // a password that was given, for what needs a fresh one
	InvitedFor  = 7 * 24 * time.Hour
	ResetFor    = time.Hour // a link to set a password
	SetUpFor    = time.Hour // the link to make the first user
)

// Bounds.
const (
	MaxMembers  = 1000 // of an organization, with its open invitations
	MaxName     = 100  // characters
	MaxEmail    = 254  // bytes
	MinPassword = 12   // characters
	MaxPassword = 256  // characters

	maxAgent    = 200 // bytes of a browser's name that are kept
	maxSessions = 100 // of one person; more end the oldest
)

// User is a person. Users are above organizations.
type User struct {
	ID         string // `usr_` and an opaque suffix
	Email      string // in lower case
	Name       string
	Password   string // PHC string; empty for none. Only UserByEmail and UserByID tell it
	CreatedAt  time.Time
	LastSeenAt time.Time // zero for never
	DisabledAt time.Time // zero unless disabled
}

// Membership is what a person is in an organization.
type Membership struct {
	Organization string
	Role         auth.Role
}

// Member is a person in an organization.
type Member struct {
	User
	Role     auth.Role
	Source   Source
	JoinedAt time.Time

	HasPassword bool
	HasIdentity bool // whether the person has signed in with single sign-on
}

// Source says who decides about the role of a member.
type Source string

// The sources of roles.
const (
	Local    Source = "local" // admins of the organization
	Provider Source = "oidc"  // the groups that an identity provider tells
)

// Session is a person who has signed in somewhere.
type Session struct {
	ID         string // `ses_` and an opaque suffix
	Hash       string // SHA-256 of its token
	UserID     string
	Method     string // how the person signed in
	Address    string // IP address; empty for none
	Agent      string // what the browser says of itself
	CreatedAt  time.Time
	SeenAt     time.Time
	FreshUntil time.Time // until then the password counts as just given
	ExpiresAt  time.Time
}

// The Method of sessions that began with a password, and with single sign-on.
const (
	ByPassword = "password"
	ByProvider = "oidc"
)

// Found is a session with whose it is.
type Found struct {
	Session     Session
	User        User // without its password
	Memberships []Membership
}

// Invitation asks a person to become a member.
type Invitation struct {
	ID           string // `inv_` and an opaque suffix
	Organization string
	Email        string
	Role         auth.Role
	Hash         string // SHA-256 of its token
	InvitedBy    string // the actor
	CreatedAt    time.Time
	ExpiresAt    time.Time
}

// LinkKind says what a link is for.
type LinkKind string

// The kinds of links.
const (
	SetUpLink LinkKind = "setup" // makes the first user
	ResetLink LinkKind = "reset" // sets a user's password
)

// Link is an address that is used once. Only the hash of its token is stored.
type Link struct {
	Hash      string
	Kind      LinkKind
	UserID    string // empty for a SetUpLink
	ExpiresAt time.Time
}

// Change is a change of a membership.
type Change struct {
	Organization string
	UserID       string
	Role         auth.Role // empty removes the member
	By           auth.Caller
}

// Joining is a person who becomes a member: a new user, or one that is there.
type Joining struct {
	New    *User  // made, unless UserID is given
	UserID string // of somebody who has signed in
}

// Store keeps people. All changes are audited. What a caller may is decided by what
// he is when the transaction runs, not by what a session or key said before.
type Store interface {
	// HasUsers reports whether there is any user.
	HasUsers(ctx context.Context) (bool, error)
	// UserByEmail returns a user with the password; ok is false for none.
	UserByEmail(ctx context.Context, email string) (u User, ok bool, err error)
	// UserByID is UserByEmail by the identifier.
	UserByID(ctx context.Context, id string) (u User, ok bool, err error)
	// Users lists the users, by email, with their memberships: those of an
	// organization, or all for "".
	Users(ctx context.Context, organization string) ([]Found, error)
	// AddUser makes a user a member of an organization, and the user, too, unless there
	// is one with this email, whose name and password stay. It fails with AlreadyExists
	// (MEMBER_EXISTS) for a member, NotFound (ORGANIZATION_NOT_FOUND), and
	// FailedPrecondition (MEMBER_QUOTA).
	AddUser(ctx context.Context, u User, m Membership) (stored User, made bool, err error)
	// SetUp makes the first user, an owner, and ends all links of that kind. It fails with
	// NotFound (LINK_NOT_FOUND), also when there is a user already, and as AddUser does.
	SetUp(ctx context.Context, linkHash string, u User, organization string) (User, error)
	// SetName gives a user another name.
	SetName(ctx context.Context, userID, name string) error
	// SetPassword sets a user's password and ends the sessions but keep, all for "".
	SetPassword(ctx context.Context, userID, password, keep string) error
	// Rehash replaces what is stored of the same password, unless it has changed.
	Rehash(ctx context.Context, userID, before, after string) error
	// ResetPassword sets the password of the user whose link it is, and ends the
	// sessions and links; NotFound (LINK_NOT_FOUND).
	ResetPassword(ctx context.Context, linkHash, password string) (User, error)
	// LinkUser returns whose link of a kind it is, the zero User for a SetUpLink;
	// NotFound (LINK_NOT_FOUND).
	LinkUser(ctx context.Context, kind LinkKind, linkHash string) (User, error)
	// CreateLink makes a link. It fails with NotFound (USER_NOT_FOUND), and for a
	// SetUpLink with FailedPrecondition (USER_EXISTS) when there is a user.
	CreateLink(ctx context.Context, l Link) error
	// CreateMemberLink makes a ResetLink for a member of an organization. It fails with
	// NotFound (MEMBER_NOT_FOUND), PermissionDenied (SCOPE_MISSING) when the member has a
	// role that the caller couldn't give, and FailedPrecondition (MEMBER_ELSEWHERE) when the
	// person is a member of another organization, too.
	CreateMemberLink(ctx context.Context, l Link, organization string, by auth.Caller) error
	// DisableUser keeps a user from signing in and ends the sessions, or lets him again;
	// NotFound (USER_NOT_FOUND).
	DisableUser(ctx context.Context, userID string, disabled bool) error
	// RemoveUser deletes a user; NotFound (USER_NOT_FOUND), FailedPrecondition
	// (LAST_OWNER).
	RemoveUser(ctx context.Context, userID string) error

	// SignInAs returns the user of an identity that a provider vouches for, and gives him
	// the roles that his groups have; when one changes, his sessions end. An identity that
	// is not known is linked by the email, when the provider has verified that: to whom it
	// has open invitations, which are accepted, and to a user who never had a password or
	// an identity. It fails with
	// Unauthenticated (SIGN_IN_FAILED) for everybody else.
	SignInAs(ctx context.Context, i Identity) (User, error)

	SessionStore
	MemberStore
}

// SessionStore keeps sessions.
type SessionStore interface {
	// CreateSession stores a session of a user who is not disabled; Unauthenticated
	// (SIGN_IN_FAILED). Of more than most sessions of the user the oldest end.
	CreateSession(ctx context.Context, s Session, most int) error
	// SessionByHash returns the session with exactly this hash; ok is false for none.
	SessionByHash(ctx context.Context, hash string) (f Found, ok bool, err error)
	// RenewSession gives a session another token; NotFound (SESSION_NOT_FOUND).
	RenewSession(ctx context.Context, before, after string, freshUntil time.Time) error
	// TouchSessions stores when sessions were last used, by their hash.
	TouchSessions(ctx context.Context, used map[string]time.Time) error
	// Sessions lists a user's sessions that have not ended, the last used first.
	Sessions(ctx context.Context, userID string) ([]Session, error)
	// EndSession ends a session of a user by its identifier; NotFound
	// (SESSION_NOT_FOUND).
	EndSession(ctx context.Context, userID, id string) error
	// EndSessions ends all sessions of a user, and returns how many there were.
	EndSessions(ctx context.Context, userID string) (int, error)
}

// MemberStore keeps who is a member of an organization.
type MemberStore interface {
	// Members lists the members by email.
	Members(ctx context.Context, organization string) ([]Member, error)
	// ChangeMember gives a member another role, or removes him, and ends his sessions, of
	// which his browser learns the new role. It fails with NotFound (MEMBER_NOT_FOUND),
	// PermissionDenied (SCOPE_MISSING) for a role, given or taken, that the caller couldn't
	// give, and FailedPrecondition (LAST_OWNER).
	ChangeMember(ctx context.Context, c Change) (Member, error)
	// Invite stores an invitation, and ends an earlier one for the same email. It fails
	// with AlreadyExists (MEMBER_EXISTS), PermissionDenied (SCOPE_MISSING), and
	// FailedPrecondition (MEMBER_QUOTA).
	Invite(ctx context.Context, i Invitation, by auth.Caller) (Invitation, error)
	// Invitations lists the open ones, the newest first.
	Invitations(ctx context.Context, organization string) ([]Invitation, error)
	// RevokeInvitation ends an open one; NotFound (INVITATION_NOT_FOUND).
	RevokeInvitation(ctx context.Context, organization, id string) error
	// InvitationByHash returns an open invitation, and whether there is a user with its
	// email; NotFound (LINK_NOT_FOUND).
	InvitationByHash(ctx context.Context, hash string) (i Invitation, known bool, err error)
	// Accept makes who is invited a member, once. It fails as InvitationByHash does, with
	// PermissionDenied (INVITED_OTHER) when the user has another email, and with
	// AlreadyExists (USER_EXISTS) when a new user's email is taken, (MEMBER_EXISTS).
	Accept(ctx context.Context, hash string, j Joining) (User, error)
}

// newID returns a new identifier with a prefix: 128 random bits.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// NewUser checks what a person says of himself, and returns a user without a
// password.
func NewUser(email, name string) (User, error) {
	var bad errs.Violations
	u := User{ID: newID("usr_"), Email: CleanEmail(email), Name: strings.TrimSpace(name)}
	checkEmail(&bad, u.Email)
	checkName(&bad, u.Name)

	return u, bad.Err()
}

func checkName(bad *errs.Violations, name string) {
	if n := utf8.RuneCountInString(name); n < 1 || n > MaxName || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsControl) {
		bad.Add("name", "must be text of 1 to %d characters without control characters; it has %d", MaxName, n)
	}
}

// CleanEmail is how an address is stored and compared.
func CleanEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func checkEmail(bad *errs.Violations, email string) {
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > MaxEmail {
		bad.Add("email", "must be an address such as ada@example.com, of at most %d bytes", MaxEmail)
	}
}
