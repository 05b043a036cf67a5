// Package config is what an operator can set: one struct, filled from
// defaults, a YAML file, the environment and flags, in rising precedence.
// Each section has its settings, defaults and validation.
//
// A setting has one name in three spellings: `http_addr` in the file,
// PRWARDEN_HTTP_ADDR in the environment, --http-addr on the command line.
package config

import (
	"fmt"
	"strings"
)

// Config is everything that can be set. The zero value is not useful; see
// Default.
type Config struct {
	Listen
	Storage
	Retention
	Scanning
	Link
	Process
	Client
	Tenants
	Hosts
	Pages
	People
}

// Command is a subcommand that takes settings, as a bit in a set of them.
type Command uint16

// The commands. Each takes only the settings that mean something to it;
// the others may stand in a shared file but are not validated for it.
const (
	Serve Command = 1 << iota
	Scanner
	Migrate
	Keys
	Review
	Backup        // and restore
	Organizations // create, list, update and remove
	Connections   // on the server's database, and over the API
	Users
)

// server are the commands of the service's own side.
const server = Serve | Scanner | Migrate | Keys | Backup | Organizations | Connections | Users

// everyCommand are all that take settings.
const everyCommand = server | Review

// Default returns the configuration that is in force when nothing is set.
func Default() Config {
	return Config{
		Listen:    defaultListen(),
		Storage:   defaultStorage(),
		Retention: defaultRetention(),
		Scanning:  defaultScanning(),
		Process:   defaultProcess(),
		Client:    defaultClient(),
		Pages:     defaultPages(),
	}
}

// problems are everything that is wrong in the settings that cmd uses.
func (c Config) problems(cmd Command) (problems Problems) {
	var all Problems
	c.Listen.validate(&all)
	c.Storage.validate(&all)
	c.Retention.validate(&all)
	c.Scanning.validate(&all)
	c.Link.validate(&all, c)
	c.Process.validate(&all)
	c.Client.validate(&all)
	c.Tenants.validate(&all)
	c.Hosts.validate(&all)
	c.People.validate(&all, c)

	ofHosts := cmd&(Serve|Connections) != 0
	used := map[string]bool{
		"organizations": cmd&(Serve|Scanner|Organizations|Keys|Connections|Users) != 0,
		"secrets":       ofHosts, "connections": ofHosts, "sign_in": cmd&Serve != 0,
	}
	for _, s := range Settings(cmd) {
		used[s.Key] = true
	}
	for _, p := range all {
		if used[rootKey(p.Key)] {
			problems = append(problems, p)
		}
	}
	return problems
}

// Problem is one thing that is wrong in the configuration.
type Problem struct {
	Key     string // the setting, such as `http_addr` or `organizations[0].host.kind`; empty for the file as a whole
	Origin  string // where the value came from, such as `--http-addr`, `PRWARDEN_HTTP_ADDR` or `prwarden.yaml:3`
	Message string // what was wrong and what is allowed
}

// String says all of it in a line.
func (p Problem) String() string {
	switch {
	case p.Key == "":
		return join(p.Origin, p.Message)
	case p.Origin == "":
		return join(p.Key, p.Message)
	case strings.Contains(p.Origin, ":"): // a place in a file: what editors can jump to comes first
		return join(p.Origin, join(p.Key, p.Message))
	}
	return join(p.Key+" (from "+p.Origin+")", p.Message)
}

func join(head, tail string) string {
	if head == "" {
		return tail
	}
	return head + ": " + tail
}

// Problems is an error that lists every problem, in the order of the settings.
type Problems []Problem

// Error has a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) add(key, format string, args ...any) {
	*ps = append(*ps, Problem{Key: key, Message: fmt.Sprintf(format, args...)})
}

// rootKey is the setting that a key is part of: `organizations[0].name` is of
// `organizations`.
func rootKey(key string) string {
	if i := strings.IndexAny(key, ".["); i >= 0 {
		return key[:i]
	}
	return key
}
