package config

import (
	"strings"

	"github.com/spf13/pflag"
)

// EnvPrefix starts the name of every environment variable that is read.
const EnvPrefix = "PRWARDEN_"

// Setting describes one setting for help texts, documentation and flags.
type Setting struct {
	Key      string            // name in the file
	Field    func(*Config) any // pointer to what it sets; nil for the file itself
	Commands Command           // which commands take it
	Value    string            // what stands for a value in help, such as HOST:PORT; empty for a switch
	Usage    string            // what it is for, one or more sentences, lines separated by \n
	Default  string            // the default as help shows it; empty for none
	List     bool              // a list: the flag can be repeated, or values separated by commas
	flag     string            // name of the flag, where it is not that of the key
}

// Flag is the name of the flag, without the dashes.
func (s Setting) Flag() string {
	if s.flag != "" {
		return s.flag
	}
	return strings.ReplaceAll(s.Key, "_", "-")
}

// Env is the name of the environment variable.
func (s Setting) Env() string { return EnvPrefix + strings.ToUpper(s.Key) }

// FileKey is the key in the file, or "" when the file cannot have it.
func (s Setting) FileKey() string {
	if s.Field == nil {
		return ""
	}

	return s.Key
}

// help is the usage with the three spellings and the default.
func (s Setting) help() string {
	note := "[env " + s.Env()
	if key := s.FileKey(); key != "" {
		note += ", file " + key
	}
	if s.Default != "" {
		note += ", default " + s.Default
	}
	return s.Usage + "\n" + note + "]"
}

// Settings returns the settings that cmd takes, in the order of help and
// documentation. The organizations, connections, keys of secrets and how people sign
// in, which only the file can hold, are not among them.
func Settings(cmd Command) []Setting {
	d := Default()
	groups := [][]Setting{
		{{
			Key: "config", Commands: server | Review, Value: "FILE",
			Usage: "YAML file with settings and organizations.",
		}},
		d.Listen.settings(), d.Storage.settings(), d.Retention.settings(), d.Scanning.settings(),
		d.Link.settings(), d.Process.settings(), d.Client.settings(), d.Tenants.settings(),
		d.Hosts.settings(), d.Pages.settings(),
	}
	var settings []Setting
	for _, group := range groups {
		for _, s := range group {
			if s.Commands&cmd != 0 {
				settings = append(settings, s)
			}
		}
	}
	return settings
}

// Bind adds a flag for each setting that cmd takes. Load reads them.
func Bind(cmd Command, flags *pflag.FlagSet) {
	for _, s := range Settings(cmd) {
		f := flags.VarPF(&flagValue{setting: s}, s.Flag(), "", s.help())
		if s.Value == "" {
			f.NoOptDefVal = "true"
		}
	}
}

// flagValue keeps the text of a flag; it is parsed with that of the other
// sources, so that every source obeys the same rules.
type flagValue struct {
	setting Setting
	values  []string
}

// String returns what was given; lists are joined by commas.
func (v *flagValue) String() string { return strings.Join(v.values, ",") }

// Set takes a value; a list collects them.
func (v *flagValue) Set(text string) error {
	if !v.setting.List {
		v.values = v.values[:0]
	}
	v.values = append(v.values, text)
	return nil
}

// Type is the placeholder that help shows.
func (v *flagValue) Type() string {
	if v.setting.Value == "" {
		return "bool"
	}
	return v.setting.Value
}
