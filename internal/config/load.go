package config

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// maxFileSize is the largest configuration file that is read, in bytes.
const maxFileSize = 1 << 20

// Load reads the configuration of cmd: defaults, then the file that --config
// or PRWARDEN_CONFIG names, then the environment (as os.Environ gives it; a
// variable that is empty counts as not set), then the flags that Bind added
// and the caller parsed. The result is valid for cmd. Everything that is wrong
// is in one Problems; the file not being there is another error.
func Load(cmd Command, environ []string, flags *pflag.FlagSet) (Config, error) {
	settings := Settings(cmd)
	l := loader{k: koanf.New("."), origins: map[string]string{}}
	if err := l.loadFile(configPath(environ, flags)); err != nil {
		return Config{}, err
	}
	if err := l.loadEnv(settings, environ); err != nil {
		return Config{}, err
	}
	if err := l.loadFlags(settings, flags); err != nil {
		return Config{}, err
	}

	if f := flags.Lookup("database"); f != nil && hasPassword(f.Value.String()) {
		return Config{}, Problems{{Key: "database", Origin: "--database",
			Message: "every user of this machine could read the password on the command line; " +
				"give the address as PRWARDEN_DATABASE or in the configuration file, or the password in the file that " +
				"PGPASSFILE names"}}
	}
	c := Default()
	if problems := l.decode(&c); len(problems) > 0 {
		return Config{}, problems
	}
	for i := range c.Organizations {
		c.Organizations[i].Host = c.Organizations[i].Host.WithDefaults()
		c.Organizations[i].Declared = true
	}
	if err := c.Validate(cmd); err != nil {
		var problems Problems
		if !errors.As(err, &problems) {
			return Config{}, err
		}
		return Config{}, l.locate(problems)
	}
	return c, nil
}

// loader puts the layers together and remembers where each value came from.
type loader struct {
	k       *koanf.Koanf
	origins map[string]string // by key, such as `http_addr` or `organizations[0].name`
}

// configPath is the file that the flag names, else the environment, or "".
func configPath(environ []string, flags *pflag.FlagSet) string {
	if f := flags.Lookup("config"); f != nil && f.Changed {
		return f.Value.String()
	}
	for _, pair := range environ {
		if path, ok := strings.CutPrefix(pair, EnvPrefix+"CONFIG="); ok {
			return path
		}
	}
	return ""
}

func (l loader) loadFile(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxFileSize {
		return Problems{{
			Origin: path, Message: fmt.Sprintf("the file has %d bytes; at most %d are read", info.Size(), maxFileSize),
		}}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("the configuration file can't be read: %w", err)
	}
	lines, problems := checkFile(data)
	for i := range problems {
		problems[i].Origin = path + problems[i].Origin
	}
	if len(problems) > 0 {
		return problems
	}
	for key, line := range lines {
		l.origins[key] = path + ":" + strconv.Itoa(line)
	}
	return l.k.Load(rawbytes.Provider(data), yaml.Parser())
}

func (l loader) loadEnv(settings []Setting, environ []string) error {
	byEnv := make(map[string]Setting, len(settings))
	for _, s := range settings {
		byEnv[s.Env()] = s
	}
	return l.k.Load(env.Provider(".", env.Opt{
		Prefix:      EnvPrefix,
		EnvironFunc: func() []string { return environ },
		// Variables that are not ours are let be: Kubernetes, for one, sets
		// PRWARDEN_SERVICE_HOST next to a service of that name.
		TransformFunc: func(name, value string) (string, any) {
			s, ok := byEnv[name]
			if !ok || s.noFile || value == "" {
				return "", nil
			}
			l.origins[s.Key] = name
			return s.Key, value
		},
	}), nil)
}

func (l loader) loadFlags(settings []Setting, flags *pflag.FlagSet) error {
	byFlag := make(map[string]Setting, len(settings))
	for _, s := range settings {
		byFlag[s.Flag()] = s
	}
	return l.k.Load(posflag.ProviderWithFlag(flags, ".", nil, func(f *pflag.Flag) (string, any) {
		s, ok := byFlag[f.Name]
		if !ok || s.noFile || !f.Changed {
			return "", nil
		}
		l.origins[s.Key] = "--" + f.Name
		return s.Key, f.Value.String()
	}), nil)
}

func (l loader) decode(c *Config) Problems {
	err := l.k.UnmarshalWithConf("", c, koanf.UnmarshalConf{
		DecoderConfig: &mapstructure.DecoderConfig{Result: c, TagName: "koanf", DecodeHook: decodeHook},
	})
	var problems Problems
	collect(err, &problems)
	return l.locate(problems)
}

// collect takes the errors of single values out of a tree of joined errors.
func collect(err error, problems *Problems) {
	switch e := err.(type) { //nolint:errorlint // it walks the tree itself
	case nil:
	case *mapstructure.DecodeError:
		problems.add(strings.TrimPrefix(e.Name(), "."), "%v", e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			collect(one, problems)
		}
	case interface{ Unwrap() error }:
		collect(e.Unwrap(), problems)
	default:
		problems.add("", "%v", err)
	}
}

// locate says where each value came from: the place of the key itself, else
// of what it is part of.
func (l loader) locate(problems Problems) Problems {
	for i, p := range problems {
		for key := p.Key; key != "" && problems[i].Origin == ""; key = parentKey(key) {
			problems[i].Origin = l.origins[key]
		}
	}
	return problems
}

// parentKey is the key of the list or mapping that key is in, or "".
func parentKey(key string) string {
	if i := strings.LastIndexAny(key, ".["); i >= 0 {
		return key[:i]
	}
	return ""
}
