package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DocumentFile is a file with rules, as YAML on disk and as JSON over the API.
type DocumentFile struct {
	Version int        `json:"version" yaml:"version"`
	Rules   []Document `json:"rules" yaml:"rules"`
}

// DocumentsOf returns the file with rules.
func DocumentsOf(rules []Rule) DocumentFile {
	f := DocumentFile{Version: 1, Rules: make([]Document, len(rules))}
	for i, r := range rules {
		f.Rules[i] = r.Document()
	}

	return f
}

// YAML writes the file so that ParsePushFile reads the same rules. The YAML library
// writes some texts that it can't read: those with blanks in front.
func (f DocumentFile) YAML() ([]byte, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	root, err := nodeOf(decoder)
	if err != nil {
		return nil, err
	}

	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

// nodeOf makes a YAML node of the next JSON value.
func nodeOf(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}

	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: fmt.Sprint(token)}
	switch token := token.(type) {
	case json.Delim:
		n = &yaml.Node{Kind: yaml.MappingNode}
		if token == '[' {
			n.Kind = yaml.SequenceNode
		}
		for d.More() { // the keys of an object are values, too
			child, err := nodeOf(d)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = d.Token()
	case json.Number:
		n.Tag = "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag = "!!bool"
	case string:
		if strings.ContainsAny(token, "\t\r") || strings.TrimLeft(token, " \n") != token {
			n.Style = yaml.DoubleQuotedStyle
		}
	}

	return n, err
}
