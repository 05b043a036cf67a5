package config

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/background"
)

// Storage says where reviews, rules and keys are kept.
type Storage struct {
	Database            string // sqlite:PATH or postgres://…
	DatabaseConnections int    // at most, to Postgres
	Migrate             bool   // when a server starts on Postgres
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
		Key: "database", Field: func(c *Config) any { return &c.Database },
		Commands: Serve | Migrate | Keys | Backup | Organizations | Connections | Users,
		Value:    "DATABASE", Default: s.Database,
		Usage: "The database: sqlite:PATH, a file that is created when it is not there,\nor " +
			"postgres://USER@HOST/NAME, which several servers can share. A password\nmay stand in the environment and " +
			"the file, or where PGPASSFILE says.",
	}, {
		Key: "database_connections", Field: func(c *Config) any { return &c.DatabaseConnections },
		Commands: Serve, Value: "N", Default: "20",
		Usage: "How many connections to Postgres the server has at most.",
	}, {
		Key: "migrate", Field: func(c *Config) any { return &c.Migrate },
		Commands: Serve, Default: "false",
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

// Retention says how long is kept what is not needed any more.
type Retention struct {
	KeepReviews Age // after they ended; 0 for ever
	KeepAudit   Age // events of the audit log; 0 for ever
}

func defaultRetention() Retention { return Retention{KeepAudit: 400 * day} }

// Bounds of keep_audit.
const (
	minKeepAudit = 30 * day
	maxKeepAudit = 36_500 * day
)

// Bounds of keep_reviews. An idempotency key is answered with its review for
// 24 hours, so the review is there for as long.
const (
	minKeepReviews = day
	maxKeepReviews = 36_500 * day
)

func (r Retention) settings() []Setting {
	return []Setting{{
		Key: "keep_reviews", Field: func(c *Config) any { return &c.KeepReviews },
		Commands: Serve, Value: "AGE", Default: "for ever",
		Usage: "How long reviews are kept after they ended, such as 90d or 36h; at least\n24h. Older ones are deleted " +
			"with their findings.",
	}, {
		Key: "keep_audit", Field: func(c *Config) any { return &c.KeepAudit },
		Commands: Serve, Value: "AGE", Default: "400d",
		Usage: "How long events of the audit log are kept; at least 30d, and 0 for ever.",
	}}
}

func (r Retention) validate(ps *Problems) {
	if r.KeepReviews != 0 && (r.KeepReviews < minKeepReviews || r.KeepReviews > maxKeepReviews) {
		ps.add("keep_reviews", "%v is not allowed; it must be 0, which is for ever, or from 24h to 36500d",
			time.Duration(r.KeepReviews))
	}
	if r.KeepAudit != 0 && (r.KeepAudit < minKeepAudit || r.KeepAudit > maxKeepAudit) {
		ps.add("keep_audit", "%v is not allowed; it must be 0, which is for ever, or from 30d to 36500d",
			time.Duration(r.KeepAudit))
	}
}

// Scanning says who scans, how much at once, and what may be kept on disk.
type Scanning struct {
	Scanners       []string // HOST:PORT of scanners; none for the one in this process
	ScanWorkers    int      // scans at once, of a server and of a scanner
	ScannerOpsAddr string   // a scanner's metrics and health; OpsNone for none
	CacheDir       string   // where repositories are kept between scans
	CacheSize      Size     // bytes that the cache may take
	MemoryLimit    Size     // bytes that the process should have at most; 0 for what the system says
	MaxFileSize    Size     // bytes of the largest file that is scanned
}

// Bounds of the settings.
const (
	maxScanWorkers = 1024
	minCacheSize   = 64 << 20
	minMemoryLimit = 128 << 20
	minMaxFileSize = 64 << 10
	maxMaxFileSize = 128 << 20 // each scan may hold two, and git compares two
)

func defaultScanning() Scanning {
	s := Scanning{
		ScanWorkers: background.Processors(), ScannerOpsAddr: OpsNone, CacheSize: 10 << 30, MaxFileSize: 16 << 20,
	}
	if dir, err := os.UserCacheDir(); err == nil {
		s.CacheDir = filepath.Join(dir, "prwarden")
	}
	return s
}

func (s Scanning) settings() []Setting {
	return []Setting{
		{
			Key: "scanner", Field: func(c *Config) any { return &c.Scanners },
			Commands: Serve, Value: "HOST:PORT,...", List: true,
			Usage: "Scanner processes that do the scans; a repository prefers the same\none. A name stands for " +
				"all of its addresses. Without any, scans are\ndone in this process.",
		}, {
			Key: "scan_workers", Field: func(c *Config) any { return &c.ScanWorkers },
			Commands: Serve | Scanner, Value: "N", Default: "the number of CPUs",
			Usage: "How many pull requests are scanned at once. Of a server with\nscanners elsewhere: how many it has " +
				"them scan at once.",
		}, {
			Key: "scanner_ops_addr", Field: func(c *Config) any { return &c.ScannerOpsAddr },
			Commands: Scanner, flag: "ops-addr", Value: "HOST:PORT", Default: s.ScannerOpsAddr,
			Usage: "Where the scanner shows metrics and health, without a key: keep it\nprivate. The word none turns it off.",
		}, {
			Key: "cache_dir", Field: func(c *Config) any { return &c.CacheDir },
			Commands: Serve | Scanner, Value: "DIR", Default: "prwarden in the user cache",
			Usage: "Where repositories are kept between scans.",
		}, {
			Key: "cache_size", Field: func(c *Config) any { return &c.CacheSize },
			Commands: Serve | Scanner, Value: "SIZE", Default: "10GiB",
			Usage: "How much that may take, such as 500MiB or 20GiB; what was not used\nfor longest goes first.",
		}, {
			Key: "memory_limit", Field: func(c *Config) any { return &c.MemoryLimit },
			Commands: Serve | Scanner, Value: "SIZE", Default: "90% of the control group's, else 1GiB",
			Usage: "How much memory the process should take, without that of git. Near it,\ncompiled rules are dropped.",
		}, {
			Key: "max_file_size", Field: func(c *Config) any { return &c.MaxFileSize },
			Commands: Serve | Scanner, Value: "SIZE", Default: "16MiB",
			Usage: "The largest file that is scanned, from 64KiB to 128MiB; a larger one is\nskipped as file_too_large. " +
				"All scanners of a server need the same.",
		},
	}
}

func (s Scanning) validate(ps *Problems) {
	for i, addr := range s.Scanners {
		host, err := splitAddr(addr)
		if err != nil {
			ps.add(fmt.Sprintf("scanner[%d]", i), "%q: %v; it must be HOST:PORT, such as 10.0.0.7:9191", addr, err)
		} else if host == "" || strings.HasSuffix(addr, ":0") {
			ps.add(
				fmt.Sprintf("scanner[%d]", i),
				"%q does not say which machine and port to call; it must be HOST:PORT, such as 10.0.0.7:9191", addr,
			)
		}
	}
	if s.ScanWorkers < 1 || s.ScanWorkers > maxScanWorkers {
		ps.add("scan_workers", "%d is not allowed; it must be from 1 to %d", s.ScanWorkers, maxScanWorkers)
	}
	if s.ScannerOpsAddr != OpsNone {
		checkListenAddr(ps, "scanner_ops_addr", s.ScannerOpsAddr)
	}
	if s.CacheDir == "" {
		ps.add("cache_dir", "there is no user cache directory (HOME is not set), so it must be given")
	}
	if s.CacheSize < minCacheSize {
		ps.add("cache_size", "%d bytes are too few; it must be at least 64MiB", s.CacheSize)
	}
	if s.MemoryLimit != 0 && s.MemoryLimit < minMemoryLimit {
		ps.add("memory_limit", "%d bytes are too few; it must be at least 128MiB", s.MemoryLimit)
	}
	if s.MaxFileSize < minMaxFileSize || s.MaxFileSize > maxMaxFileSize {
		ps.add("max_file_size", "%d bytes are not allowed; it must be from 64KiB to 128MiB", s.MaxFileSize)
	}
}
