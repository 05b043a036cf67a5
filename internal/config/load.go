package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// Load reads the configuration of cmd: defaults, then the file that --config
// or PRWARDEN_CONFIG names, then the environment (as os.Environ gives it; a
// variable that is empty counts as not set), then the flags that Bind added
// and the caller parsed. The result is valid for cmd. Everything that is wrong
// is in one Problems; the file not being there is another error.
func Load(cmd Command, environ []string, flags *pflag.FlagSet) (Config, error) {
	l := loader{variables: map[string]string{}, flags: flags, origins: map[string]string{}}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			l.variables[name] = value
		}
	}

	path := l.variables[EnvPrefix+"CONFIG"]
	if f := flags.Lookup("config"); f != nil && f.Changed {
		path = f.Value.String()
	}
	var err error
	if l.file, err = readFile(path); err != nil {
		return Config{}, err
	}

	if f := flags.Lookup("database"); f != nil && hasPassword(f.Value.String()) {
		return Config{}, Problems{{Key: "database", Origin: "--database",
			Message: "every user of this machine could read the password on the command line; " +
				"give the address as PRWARDEN_DATABASE or in the configuration file, or the password in the file that " +
				"PGPASSFILE names"}}
	}

	c := Default()
	if problems := l.fill(&c, cmd); len(problems) > 0 {
		return Config{}, problems
	}

	if problems := c.problems(cmd); len(problems) > 0 {
		return Config{}, l.locate(problems)
	}
	return c, nil
}

// loader puts the sources together and remembers where each value came from.
type loader struct {
	file      file
	variables map[string]string
	flags     *pflag.FlagSet
	origins   map[string]string // by key, of what flags and variables set
}

// fill gives the settings of cmd their values, and takes over what only the file can
// hold.
func (l loader) fill(c *Config, cmd Command) Problems {
	var problems Problems
	for _, s := range Settings(cmd) {
		if s.Field == nil {
			continue
		}

		values, err := l.values(s)
		if err == nil && values != nil {
			err = setField(s.Field(c), values)
		}
		if err != nil {
			problems.add(s.Key, "%v", err)
		}
	}

	c.SecretKeys, c.Connections = l.file.Secrets.Keys, l.file.Connections
	c.SignIn = l.file.SignIn
	c.Organizations = l.file.Organizations
	for i := range c.Organizations {
		c.Organizations[i].Host = c.Organizations[i].Host.WithDefaults()
		c.Organizations[i].Declared = true
	}

	return l.locate(problems)
}

// values returns what a setting is given, nil when it is left out. Variables
// that are not ours are not looked at: Kubernetes, for one, sets
// PRWARDEN_SERVICE_HOST next to a service of that name.
func (l loader) values(s Setting) ([]string, error) {
	if f := l.flags.Lookup(s.Flag()); f != nil && f.Changed {
		l.origins[s.Key] = "--" + f.Name

		return []string{f.Value.String()}, nil
	}

	if value, ok := l.variables[s.Env()]; ok {
		l.origins[s.Key] = s.Env()

		return []string{value}, nil
	}

	return l.file.values(s)
}

// locate says where each value came from.
func (l loader) locate(problems Problems) Problems {
	for i, p := range problems {
		if origin, ok := l.origins[rootKey(p.Key)]; ok {
			problems[i].Origin = origin
		} else {
			problems[i].Origin = l.file.place(rootKey(p.Key))
		}
	}

	return problems
}
