package config

import (
	"net/url"
	"strings"
)

// Storage says where reviews, rules and keys are kept.
type Storage struct {
	Database            string `koanf:"database"`             // sqlite:PATH or postgres://…
	DatabaseConnections int    `koanf:"database_connections"` // at most, to Postgres
	Migrate             bool   `koanf:"migrate"`              // when a server starts on Postgres
}

// Bounds of database_connections. Two, so that somebody who waits in the
// database doesn't keep everybody else from it.
const (
	defaultDatabaseConnections = 20
	minDatabaseConnections     = 2
	maxDatabaseConnections     = 1_000
)

func defaultStorage() Storage {
	return Storage{Database: "sqlite:prwarden.db", DatabaseConnections: defaultDatabaseConnections}
}

// Shared says whether several servers may have the database at once.
func (s Storage) Shared() bool { return isPostgres(s.Database) }

func isPostgres(database string) bool {
	scheme, _, found := strings.Cut(database, ":")
	return found && (scheme == "postgres" || scheme == "postgresql")
}

func (s Storage) settings() []Setting {
	return []Setting{{
		Key: "database", Commands: Serve | Migrate | Keys | Backup | Organizations, Value: "DATABASE", Default: s.Database,
		Usage: "The database: sqlite:PATH, a file that is created when it is not there,\nor " +
			"postgres://USER@HOST/NAME, which several servers can share. A password\nmay stand in the environment and " +
			"the file, or where PGPASSFILE says.",
	}, {
		Key: "database_connections", Commands: Serve, Value: "N", Default: "20",
		Usage: "How many connections to Postgres the server has at most.",
	}, {
		Key: "migrate", Commands: Serve, Default: "false",
		Usage: "Bring a Postgres database to this version's schema before serving.",
	}}
}

func (s Storage) validate(ps *Problems) {
	scheme, rest, found := strings.Cut(s.Database, ":")
	switch {
	case isPostgres(s.Database) && !strings.HasPrefix(rest, "//"):
		// The value may hold a password, so it is not repeated.
		ps.add("database", "the address must begin with %s://; write postgres://USER@HOST:PORT/NAME", scheme)
	case isPostgres(s.Database):
	case found && scheme == "sqlite" && rest == "":
		ps.add("database", "%q names no file; write sqlite:PATH, such as sqlite:prwarden.db", s.Database)
	case found && scheme == "sqlite":
	case !found:
		ps.add(
			"database", "%q has no kind; write sqlite:PATH, such as sqlite:prwarden.db, or postgres://USER@HOST/NAME",
			s.Database,
		)
	default:
		ps.add("database", "unknown kind of database %q; use sqlite:PATH or postgres://USER@HOST/NAME", scheme)
	}
	if n := s.DatabaseConnections; n < minDatabaseConnections || n > maxDatabaseConnections {
		ps.add(
			"database_connections", "%d is not allowed; it must be from %d to %d", n, minDatabaseConnections,
			maxDatabaseConnections,
		)
	}
}

// hasPassword says whether an address of a database holds a password, as far
// as can be told.
func hasPassword(database string) bool {
	if !isPostgres(database) {
		return false
	}
	u, err := url.Parse(database)
	if err != nil {
		return strings.Contains(database, "@") // odd characters, as passwords have them
	}
	_, set := u.User.Password()
	return set || u.Query().Has("password")
}
