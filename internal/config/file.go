package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/organization"
	"github.com/prwarden/prwarden/internal/seal"
)

// maxFileSize is the largest configuration file that is read, in bytes.
const maxFileSize = 1 << 20

// file is what a configuration file has.
type file struct {
	Organizations []organization.Organization `yaml:"organizations"`
	Connections   []connection.Declared       `yaml:"connections"`
	Secrets       secrets                     `yaml:"secrets"`
	SignIn        SignIn                      `yaml:"sign_in"`
	Settings      map[string]yaml.Node        `yaml:",inline"`

	path string
}

// secrets is how secrets in the database are sealed.
type secrets struct {
	Keys []seal.Source `yaml:"keys"`
}

// sections are the keys of a file that are no settings.
func sections() []string { return []string{"organizations", "connections", "secrets", "sign_in"} }

// readFile reads the file of that path, nothing for "".
func readFile(path string) (file, error) {
	if path == "" {
		return file{}, nil
	}

	data, err := os.ReadFile(path)
	if err != nil {
		return file{}, fmt.Errorf("the configuration file can't be read: %w", err)
	}

	f, problems := parseFile(path, data)
	if len(problems) > 0 {
		return f, problems
	}
	return f, nil
}

// parseFile checks that data is one YAML document of known keys.
func parseFile(path string, data []byte) (file, Problems) {
	f := file{path: path}
	if len(data) > maxFileSize {
		return f, Problems{{
			Origin: path, Message: fmt.Sprintf("the file has %d bytes; at most %d are read", len(data), maxFileSize),
		}}
	}

	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return f, yamlProblems(path, err)
	}
	if err := decoder.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return f, Problems{{Origin: path, Message: "there must be one YAML document in it"}}
	}

	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return f, yamlProblems(path, err)
	}
	if problems := missingValues(path, &document); len(problems) > 0 {
		return f, problems
	}

	known := sections()
	for _, s := range Settings(everyCommand) {
		if s.Field != nil {
			known = append(known, s.Key)
		}
	}

	var problems Problems
	for _, key := range slices.Sorted(maps.Keys(f.Settings)) {
		if !slices.Contains(known, key) {
			problems = append(problems, Problem{
				Origin: f.place(key), Message: fmt.Sprintf("unknown key %q; %s", key, suggest(key, known)),
			})
		}
	}

	return f, problems
}

// place says where the file has a setting, "" when it has not.
func (f file) place(key string) string {
	if n, ok := f.Settings[key]; ok {
		return f.path + ":" + strconv.Itoa(n.Line)
	}
	if slices.Contains(sections(), key) {
		return f.path
	}

	return ""
}

// values returns what the file gives a setting, nil when it leaves it out.
func (f file) values(s Setting) (values []string, err error) {
	n, ok := f.Settings[s.Key]
	switch {
	case !ok:
		return nil, nil
	case s.List && n.Decode(&values) != nil:
		return nil, errors.New("it must be a list")
	case s.List:
		return values, nil
	case n.Kind != yaml.ScalarNode:
		return nil, errors.New("it must be a single value")
	}

	return []string{n.Value}, nil
}

// missingValues finds the keys without a value. Whoever wrote one meant something
// that must not be taken for nothing.
func missingValues(path string, n *yaml.Node) (problems Problems) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Tag == "!!null" {
			problems = append(problems, Problem{
				Key: n.Content[i-1].Value, Origin: fmt.Sprintf("%s:%d", path, child.Line),
				Message: "it has no value; give one or leave the key out",
			})
		}
		problems = append(problems, missingValues(path, child)...)
	}

	return problems
}

// yamlProblems takes the places out of the library's sentences.
func yamlProblems(path string, err error) Problems {
	messages := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	var typeError *yaml.TypeError
	if errors.As(err, &typeError) {
		messages = typeError.Errors
	}

	line := regexp.MustCompile(`^line (\d+): `)
	unknown := regexp.MustCompile(`^field (\S+) not found in type (\S+)$`)
	var problems Problems
	for _, message := range messages {
		p := Problem{Origin: path, Message: message}
		if m := line.FindStringSubmatch(message); m != nil {
			p.Origin += ":" + m[1]
			p.Message = message[len(m[0]):]
			if u := unknown.FindStringSubmatch(p.Message); u != nil {
				p.Message = fmt.Sprintf("unknown key %q in %s", u[1], sectionOf(u[2]))
			}
		}
		problems = append(problems, p)
	}

	return problems
}

// sectionOf is where a file has what a type of Go stands for.
func sectionOf(goType string) string {
	switch goType {
	case "connection.Declared":
		return "a connection"
	case "config.secrets", "seal.Source":
		return "secrets"
	case "config.SignIn", "account.OIDC", "account.GroupRole":
		return "sign_in"
	}

	return "an organization"
}

// suggest names the key that was probably meant, else all that there are.
func suggest(name string, known []string) string {
	if key := strings.ToLower(strings.ReplaceAll(name, "-", "_")); slices.Contains(known, key) {
		return "did you mean " + strconv.Quote(key) + "?"
	}

	return "known are " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}
