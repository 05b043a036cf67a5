package config

import "strings"

// Storage says where reviews, rules and keys are kept.
type Storage struct {
	Database string `koanf:"database"` // sqlite:PATH
}

func defaultStorage() Storage { return Storage{Database: "sqlite:prwarden.db"} }

func (s Storage) settings() []Setting {
	return []Setting{{
		Key: "database", Commands: Serve | Migrate | Keys, Value: "sqlite:PATH", Default: s.Database,
		Usage: "The database. An SQLite file is created when it is not there.",
	}}
}

func (s Storage) validate(ps *Problems) {
	scheme, rest, found := strings.Cut(s.Database, ":")
	switch {
	case found && scheme == "sqlite" && rest == "":
		ps.add("database", "%q names no file; write sqlite:PATH, such as sqlite:prwarden.db", s.Database)
	case found && scheme == "sqlite":
	case scheme == "postgres" || scheme == "postgresql":
		// The value may hold a password, so it is not repeated.
		ps.add("database", "this build does not have Postgres yet; use sqlite:PATH")
	case !found:
		ps.add("database", "%q has no kind; write sqlite:PATH, such as sqlite:prwarden.db", s.Database)
	default:
		ps.add("database", "unknown kind of database %q; use sqlite:PATH", scheme)
	}
}
