package connection

import (
	"context"
	"time"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/errs"
)

// MaxConnections is the most connections of an organization.
const MaxConnections = 100

// Stored is a connection with its sealed secrets.
type Stored struct {
	Connection
	Sealed []byte
}

// Tested is what a test found.
type Tested struct {
	State   State
	Reason  string
	Missing []string
	Account string // whose the credentials are; "" leaves the account as it is
}

// Store keeps connections.
type Store interface {
	// CreateConnection stores a connection and returns it with its times. It fails with
	// AlreadyExists (CONNECTION_EXISTS) when the organization has one of this name, and
	// with FailedPrecondition (CONNECTION_QUOTA) while it has quota ones.
	CreateConnection(ctx context.Context, c Stored, quota int) (Stored, error)
	// ReadConnection returns a connection of an organization, of any for "";
	// NotFound (CONNECTION_NOT_FOUND).
	ReadConnection(ctx context.Context, org, id string) (Stored, error)
	// ListConnections returns those of an organization, of all for "", the oldest first.
	ListConnections(ctx context.Context, org string) ([]Stored, error)
	// ChangeConnection stores what change makes of a connection, with its event. When
	// that has no action nothing is stored. NotFound, CONNECTION_EXISTS for a new name,
	// and what change fails with.
	ChangeConnection(ctx context.Context, org, id string, change func(*Stored) (audit.Change, error)) (Stored, error)
	// DeleteConnection deletes a connection that may be deleted; NotFound, and what
	// check fails with.
	DeleteConnection(ctx context.Context, org, id string, check func(Connection) error) error
	// ReportConnection keeps the state, reason and installation of a connection, with an
	// event when the state or installation is another one, unless UpdatedAt is not that of
	// the stored one any more; NotFound.
	ReportConnection(ctx context.Context, c Connection) error
	// TestedConnection keeps what a test of a connection found and returns what is stored
	// then, likewise, and with an event for another account; NotFound.
	TestedConnection(ctx context.Context, c Connection, t Tested) (Stored, error)
	// CreateSetup stores a set-up, with its event, that ends within a time, and returns
	// when that is. It fails as CreateConnection does; set-ups count as connections.
	CreateSetup(ctx context.Context, n Setup, within time.Duration, quota int) (expires time.Time, err error)
	// ReadSetup returns a set-up by the hash of its state; SetupNotFound when it has
	// ended. TakeSetup ends it as well: of several callers one gets it.
	ReadSetup(ctx context.Context, stateHash string) (Setup, error)
	TakeSetup(ctx context.Context, stateHash string) (Setup, error)
	// ResealConnection replaces sealed secrets, with an event, unless they were changed
	// meanwhile.
	ResealConnection(ctx context.Context, id string, before, after []byte) error
}

// NotFound is the error for a connection that isn't there.
func NotFound(id string) error {
	return errs.New(errs.NotFound, errs.ReasonConnectionNotFound, "There is no connection %q.", id)
}

// Exists is the error for a name that is taken.
func Exists(name string) error {
	return errs.New(errs.AlreadyExists, errs.ReasonConnectionExists,
		"The organization has a connection %q already. Choose another name.", name)
}

// OverQuota is the error for one connection too many.
func OverQuota(quota int) error {
	return errs.New(errs.FailedPrecondition, errs.ReasonConnectionQuota,
		"The organization has %d connections, which is the most. Delete one first.", quota)
}

// Audited is what events say of a connection.
func (c Connection) Audited() map[string]any {
	return map[string]any{
		"name": c.Name, "kind": c.Kind, "url": c.URL, "api_url": c.APIURL, "git_url": c.GitURL,
		"repositories": c.Repositories, "account": c.Account, "app_id": c.AppID, "installation_id": c.Installation,
		"declared": c.Declared, "trusted": c.Trusted,
	}
}
