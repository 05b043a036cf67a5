// Package config is what an operator can set: one struct, filled from
// defaults, a YAML file, the environment and flags, in rising precedence.
// Each section has its own file with its settings, defaults and validation.
//
// A setting has one name in three spellings: `http_addr` in the file,
// PRWARDEN_HTTP_ADDR in the environment, --http-addr on the command line.
package config

// Config is everything that can be set. The zero value is not useful; see
// Default.
type Config struct {
	Listen    `koanf:",squash"`
	Storage   `koanf:",squash"`
	Retention `koanf:",squash"`
	Scanning  `koanf:",squash"`
	Link      `koanf:",squash"`
	Process   `koanf:",squash"`
	Client    `koanf:",squash"`
	Tenants   `koanf:",squash"`
}

// Command is a subcommand that takes settings, as a bit in a set of them.
type Command uint8

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
)

// server are the commands of the service's own side.
const server = Serve | Scanner | Migrate | Keys | Backup | Organizations

// Default returns the configuration that is in force when nothing is set.
func Default() Config {
	return Config{
		Listen:   defaultListen(),
		Storage:  defaultStorage(),
		Scanning: defaultScanning(),
		Process:  defaultProcess(),
		Client:   defaultClient(),
	}
}

// Validate returns Problems with everything that is wrong in the settings
// that cmd uses, or nil.
func (c Config) Validate(cmd Command) error {
	var all Problems
	c.Listen.validate(&all)
	c.Storage.validate(&all)
	c.Retention.validate(&all)
	c.Scanning.validate(&all)
	c.Link.validate(&all, c)
	c.Process.validate(&all)
	c.Client.validate(&all)
	c.Tenants.validate(&all)

	used := map[string]bool{"organizations": cmd&(Serve|Scanner|Organizations|Keys) != 0}
	for _, s := range Settings(cmd) {
		used[s.Key] = true
	}
	var problems Problems
	for _, p := range all {
		if used[rootKey(p.Key)] {
			problems = append(problems, p)
		}
	}
	return problems.orNil()
}
