package store

import (
	"errors"
	"strings"

	"github.com/lib/pq"
)

// scope says whose rows a transaction may see and write. Where the database
// has row-level security, it holds whatever a query says: the second line
// behind the organization in each query.
type scope string

// everyone is the scope of what belongs to no one organization: the queue,
// retention, keys by their hash.
const everyone scope = "*"

// of is the scope of an organization. It is never everyone.
func of(organization string) scope {
	if organization == string(everyone) {
		return "" // no organization has this name: nothing
	}
	return scope(organization)
}

// check refuses what would end the statement in which it is said.
func (s scope) check() error {
	if strings.ContainsRune(string(s), 0) {
		return errors.New("an organization with a NUL byte")
	}
	return nil
}

// set is the expression that says it to Postgres, until the transaction ends.
func (s scope) set() string {
	return "set_config('prwarden.organization', " + pq.QuoteLiteral(string(s)) + ", TRUE)"
}
