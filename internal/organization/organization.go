// Package organization is who uses an installation: its organizations, which
// repositories each may scan, and the code host that they are on.
package organization

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sync/singleflight"

	"github.com/prwarden/prwarden/internal/audit"
)

// Default is the name of the organization that an installation has when nobody
// declared or created one.
const Default = "default"

// MaxQueued is the most reviews of one organization that wait, which
// Organization.MaxQueued can only lower.
const MaxQueued = 10_000

// MaxScans is the highest Organization.MaxScans, more than all servers of an
// installation can scan at once.
const MaxScans = 100_000

// MaxRateLimit is the highest Organization.RateLimit.
const MaxRateLimit = 1_000_000_000

// Organization is one tenant: what its keys may scan, and where that is.
type Organization struct {
	Name string `yaml:"name" json:"-"`

	// Repositories are doublestar globs of `owner/name`: `*` stays within a group, and
	// `**` takes its subgroups too. Nothing else may be scanned.
	Repositories []string `yaml:"repositories" json:"repositories"`
	Host         Host     `yaml:"host" json:"host"`

	// MaxScans is how many of its reviews are scanned at once at most, over all
	// servers; 0 for no cap.
	MaxScans int `yaml:"max_scans" json:"max_scans"`
	// MaxQueued is how many of its reviews wait at most; 0 for the constant MaxQueued.
	MaxQueued int `yaml:"max_queued" json:"max_queued"`
	// RateLimit is how many requests a minute all of its keys may make together; 0
	// for the default.
	RateLimit int `yaml:"rate_limit" json:"rate_limit,omitempty"`

	// Declared says that a configuration file has the organization. It can be
	// changed there only.
	Declared bool `yaml:"-" json:"-"`
}

// Host is a code host. In URL, `{repo}` stands for `owner/name`, `{name}` for the
// part behind its last slash and `{owner}` for what is before that; in the references, `{number}` for the number of the
// pull request.
type Host struct {
	Kind     string `yaml:"kind" json:"kind"`                     // KindGit
	URL      string `yaml:"url" json:"url"`                       // where a repository is cloned from
	TokenEnv string `yaml:"token_env" json:"token_env,omitempty"` // variable with the token for private repositories
	Username string `yaml:"username" json:"username,omitempty"`   // goes with the token; DefaultUsername when empty
	HeadRef  string `yaml:"head_ref" json:"head_ref,omitempty"`   // DefaultHeadRef when empty
	MergeRef string `yaml:"merge_ref" json:"merge_ref,omitempty"` // DefaultMergeRef when empty
}

// KindGit is a code host of which only git is used.
const KindGit = "git"

// What a git host has when nothing else is said.
const (
	DefaultURL      = "https://github.com/{repo}.git"
	DefaultUsername = "x-access-token"
	DefaultHeadRef  = "refs/pull/{number}/head"
	DefaultMergeRef = "refs/pull/{number}/merge"
)

// NewDefault returns the organization Default: it may scan every public
// repository of github.com.
func NewDefault() Organization {
	return Organization{
		Name:         Default,
		Repositories: []string{"*/*"},
		Host:         Host{Kind: KindGit, URL: DefaultURL}.WithDefaults(),
	}
}

// WithDefaults fills in what the host leaves out.
func (h Host) WithDefaults() Host {
	if h.HeadRef == "" {
		h.HeadRef = DefaultHeadRef
	}

	if h.MergeRef == "" {
		h.MergeRef = DefaultMergeRef
	}

	if h.TokenEnv != "" && h.Username == "" {
		h.Username = DefaultUsername
	}

	return h
}

// RepositoryURL is where a repository is cloned from.
func (h Host) RepositoryURL(repo string) string {
	owner, name := path.Split(repo)
	owner = strings.TrimSuffix(owner, "/")

	return strings.NewReplacer("{repo}", repo, "{owner}", owner, "{name}", name).Replace(h.URL)
}

// Allows reports whether the organization may scan a repository, `owner/name`.
// Case counts.
func (o Organization) Allows(repo string) bool {
	for _, glob := range o.Repositories {
		if doublestar.MatchUnvalidated(glob, repo) {
			return true
		}
	}

	return false
}

// QueueLimit is the most reviews of the organization that may wait.
func (o Organization) QueueLimit() int {
	if o.MaxQueued > 0 {
		return o.MaxQueued
	}

	return MaxQueued
}

// Usage is what a database has of an organization.
type Usage struct {
	Organization
	Queued     int       // reviews that wait
	Running    int       // reviews in progress
	Reviews    int       // all reviews
	Rules      int       // rules that were created over the API
	Keys       int       // API keys that are not revoked
	LastReview time.Time // when the newest review was created; zero without any
}

// What a Store fails with beside errors of the database.
var (
	ErrExists   = errors.New("there is an organization with this name already")
	ErrNotFound = errors.New("there is no organization with this name")
	ErrDeclared = errors.New("a configuration file declares the organization; change it there")
)

// Store keeps organizations.
type Store interface {
	// Organizations returns all organizations, by name.
	Organizations(ctx context.Context) ([]Organization, error)
	// DeclareOrganizations stores what a configuration file has: it creates and
	// changes the organizations that are named, and takes the mark Declared from
	// all others, which stay as they are. It returns the names of those that
	// another file had declared otherwise.
	DeclareOrganizations(ctx context.Context, declared []Organization) (changed []string, err error)
	// CreateOrganization stores a new one; ErrExists.
	CreateOrganization(ctx context.Context, o Organization) error
	// UpdateOrganization changes one that no file declares; ErrNotFound,
	// ErrDeclared, and what change fails with.
	UpdateOrganization(ctx context.Context, name string, change func(*Organization) error) error
}

const (
	refreshEvery   = 2 * time.Second        // how old an answer may be while the database is there
	refreshTimeout = 2 * time.Second        // of one reading
	refusalAge     = 500 * time.Millisecond // how old what refuses a request may be
)

// Directory answers from memory what organizations may do. It reads them again
// when what it has is two seconds old, and before it refuses something. While the
// database is away it answers by what it read last. It is safe for concurrent use.
type Directory struct {
	store Store
	log   *slog.Logger

	reading singleflight.Group
	mu      sync.RWMutex
	byName  map[string]Organization
	read    time.Time
	tried   time.Time // also when that failed
}

// NewDirectory returns a directory that has read the organizations once.
func NewDirectory(ctx context.Context, store Store, log *slog.Logger) (*Directory, error) {
	d := &Directory{store: store, log: log}

	return d, d.refresh(ctx)
}

// refresh reads the organizations. Callers at the same time share one reading.
func (d *Directory) refresh(ctx context.Context) error {
	_, err, _ := d.reading.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
		defer cancel()

		began := time.Now()
		list, err := d.store.Organizations(ctx)

		d.mu.Lock()
		defer d.mu.Unlock()
		d.tried = time.Now()
		if err != nil {
			if d.byName != nil {
				d.log.Warn("the organizations can't be read; what was read before still holds", "error", err)
			}

			return nil, err
		}

		d.read, d.byName = began, make(map[string]Organization, len(list))
		for _, o := range list {
			d.byName[o.Name] = o
		}

		return nil, nil
	})

	return err
}

func (d *Directory) lookup(name string) (o Organization, age time.Duration) {
	o, age, old := d.remembered(name)
	if old {
		_ = d.refresh(context.Background()) // it logs; what was read before still holds
		o, age, _ = d.remembered(name)
	}

	return o, age
}

// remembered is what was read of an organization, how old that is, and whether it
// is time to read again.
func (d *Directory) remembered(name string) (o Organization, age time.Duration, old bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()

	return d.byName[name], time.Since(d.read), time.Since(d.tried) > refreshEvery
}

// Allowed reports whether an organization may scan a repository, `owner/name`.
// An unknown organization may scan nothing.
func (d *Directory) Allowed(org, repo string) bool {
	o, age := d.lookup(org)
	if o.Allows(repo) {
		return true
	}

	if age < refusalAge && o.Name != "" {
		return false
	}

	// It may have been made or allowed a moment ago.
	if err := d.refresh(context.Background()); err != nil {
		return false
	}

	o, _ = d.lookup(org)

	return o.Allows(repo)
}

// MaxQueued is the most reviews of an organization that may wait.
func (d *Directory) MaxQueued(org string) int {
	o, _ := d.lookup(org)

	return o.QueueLimit()
}

// Host is the code host of an organization, the zero Host for an unknown one.
func (d *Directory) Host(org string) Host {
	o, _ := d.lookup(org)

	return o.Host
}

// Apply stores what a configuration file declares. Without a declaration it
// makes sure that there is an organization at all. Where several servers' files
// differ, the one that is applied last holds, and log says so.
func Apply(ctx context.Context, store Store, declared []Organization, log *slog.Logger) error {
	// Whoever starts a program changes nothing by that; the file does.
	ctx = audit.NewContext(ctx, audit.Actor{Kind: audit.System})
	if declared == nil {
		all, err := store.Organizations(ctx)
		if err != nil || len(all) > 0 {
			return err
		}
		if err := store.CreateOrganization(ctx, NewDefault()); !errors.Is(err, ErrExists) {
			return err
		}

		return nil // another server was faster
	}

	changed, err := store.DeclareOrganizations(ctx, declared)
	if err != nil {
		return fmt.Errorf("the organizations of the configuration file can't be stored: %w", err)
	}

	for _, name := range changed {
		log.Warn("this configuration file declares an organization in another way than the one before; this one holds",
			"organization", name)
	}

	return nil
}
