package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// checkFile checks the structure of a configuration file against Config: one
// document, known keys, each once, lists where lists belong. It returns the
// line of each key and list item. A problem's Origin is `:LINE`, for the
// caller to put the file's name before, or empty.
func checkFile(data []byte) (lines map[string]int, problems Problems) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, Problems{{Message: strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, Problems{{Message: "there must be one YAML document in it"}}
	}
	w := fileWalk{lines: map[string]int{}}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	w.value(root, reflect.TypeFor[Config](), "")
	return w.lines, w.problems
}

type fileWalk struct {
	lines    map[string]int
	problems Problems
}

func (w *fileWalk) problem(n *yaml.Node, key, format string, args ...any) {
	w.problems = append(w.problems, Problem{
		Key: key, Origin: ":" + strconv.Itoa(n.Line), Message: fmt.Sprintf(format, args...),
	})
}

func (w *fileWalk) value(n *yaml.Node, t reflect.Type, key string) {
	if key != "" {
		w.lines[key] = n.Line
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		w.problem(n, key, "anchors and aliases are not allowed")
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		w.problem(n, key, "it has no value; give one or leave the key out")
	case t.Kind() == reflect.Slice:
		w.list(n, t.Elem(), key)
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[netip.Prefix]():
		w.mapping(n, t, key)
	case n.Kind != yaml.ScalarNode:
		w.problem(n, key, "it must be a single value")
	}
}

func (w *fileWalk) list(n *yaml.Node, item reflect.Type, key string) {
	if n.Kind != yaml.SequenceNode {
		w.problem(n, key, "it must be a list")
		return
	}
	for i, c := range n.Content {
		w.value(c, item, fmt.Sprintf("%s[%d]", key, i))
	}
}

func (w *fileWalk) mapping(n *yaml.Node, t reflect.Type, key string) {
	if n.Kind != yaml.MappingNode {
		w.problem(n, key, "it must be keys with values")
		return
	}
	known := fileKeys(t)
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i]
		full := strings.TrimPrefix(key+"."+name.Value, ".")
		field, ok := known[name.Value]
		switch {
		case !ok:
			w.problem(name, "", "unknown key %q; %s", full, suggest(name.Value, known))
		case seen[name.Value]:
			w.problem(name, full, "it is there twice")
		default:
			w.value(n.Content[i+1], field, full)
		}
		seen[name.Value] = true
	}
}

// fileKeys are the keys of a mapping that becomes t, with their types.
func fileKeys(t reflect.Type) map[string]reflect.Type {
	keys := map[string]reflect.Type{}
	for f := range t.Fields() {
		if name := f.Tag.Get("koanf"); name == ",squash" {
			for inner, typ := range fileKeys(f.Type) {
				keys[inner] = typ
			}
		} else if name != "-" {
			keys[name] = f.Type
		}
	}
	return keys
}

// suggest names the key that was probably meant, else all that there are.
func suggest(name string, known map[string]reflect.Type) string {
	var names []string
	normal := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for k := range known {
		if k == normal || strings.ReplaceAll(k, "_", "") == strings.ReplaceAll(normal, "_", "") || k == normal+"s" ||
			k+"s" == normal {
			return "did you mean " + strconv.Quote(k) + "?"
		}
		names = append(names, k)
	}
	slices.Sort(names)
	return "known are " + strings.Join(names, ", ")
}
