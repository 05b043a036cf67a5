// Package organization is who uses an installation: its organizations, which
// repositories each may scan, and the code host that they are on.
package organization

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
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

// Organization is one tenant: what its keys may scan, and where that is.
type Organization struct {
	Name         string   `yaml:"name"`
	Repositories []string `yaml:"repositories"` // doublestar globs of `owner/name`; nothing else may be scanned
	Host         Host     `yaml:"host"`
	MaxScans     int      `yaml:"max_scans"`  // most of its reviews scanned at once, over all servers; 0 for no cap
	MaxQueued    int      `yaml:"max_queued"` // most of its reviews that wait; 0 for the constant MaxQueued

	// RequireSuppressionReason says that a comment in the code that suppresses
	// findings counts only with a reason.
	RequireSuppressionReason bool `yaml:"require_suppression_reason"`

	// Declared says that a configuration file has the organization. It can be
	// changed there only.
	Declared bool `yaml:"-"`
}

// Host is a code host. In URL, `{repo}` stands for `owner/name`, `{owner}` and
// `{name}` for its parts; in the references, `{number}` for the number of the
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
	owner, name, _ := strings.Cut(repo, "/")

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
	// CreateDefaultOrganization stores one when there is none at all.
	CreateDefaultOrganization(ctx context.Context, o Organization) error
}
