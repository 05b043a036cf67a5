package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

// toYAML writes a message as people write it in a file, its fields in their order.
func toYAML(m proto.Message) (string, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	if err != nil {
		return "", err
	}
	var doc yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return "", err
	}
	inBlocks(&doc)

	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err = encoder.Encode(&doc)

	return escaped(out.String()), err
}

// escaped writes characters that nobody sees, or that change how others are read, as
// YAML names them. inBlocks has put texts that have some in quotes, where that holds.
func escaped(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&out, `\U%08X`, r)
		} else {
			out.WriteRune(r)
		}
	}

	return out.String()
}

// inBlocks has a document written on many lines, but lists and maps without content, and
// texts with hidden characters.
func inBlocks(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	if n.Kind == yaml.ScalarNode && strings.ContainsFunc(n.Value, hidden) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		inBlocks(c)
	}
}

// fromYAML reads what toYAML wrote.
func fromYAML(text string, into proto.Message) error {
	bad := func(text string) error {
		return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "The document can't be read: %s.", text)
	}
	var doc map[string]any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return bad(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	content, err := json.Marshal(doc)
	if err != nil {
		return bad(strings.TrimPrefix(err.Error(), "json: "))
	}
	if err := protojson.Unmarshal(content, into); err != nil {
		_, why, _ := strings.Cut(err.Error(), "): ") // before it is a place in text that nobody sees
		return bad(why)
	}

	return nil
}

// ruleYAML is a rule as a rules file has it.
func ruleYAML(r *prwardenv1.Rule) string {
	r = proto.CloneOf(r)
	r.CreatedAt, r.CreatedBy, r.UpdatedAt, r.UpdatedBy, r.MatchingCost, r.Etag = nil, nil, nil, nil, nil, ""
	r.Feedback = nil
	r.Scope, r.Repo = nil, nil // a file is of one repository
	if r.GetEnabled() {
		r.Enabled = nil
	}
	if r.GetMode() == prwardenv1.Rule_enforce {
		r.Mode = nil
	}
	if r.GetConfidence() == prwardenv1.Confidence_medium {
		r.Confidence = nil
	}
	if p := r.GetPaths(); len(p.GetInclude())+len(p.GetExclude()) == 0 {
		r.Paths = nil
	}
	if c := r.GetCases(); len(c.GetMatch())+len(c.GetNoMatch()) == 0 {
		r.Cases = nil
	}
	text, err := toYAML(&prwardenv1.BatchRulesRequest{Version: 1, Rules: []*prwardenv1.Rule{r}})
	if err != nil {
		return "# " + err.Error()
	}

	return text
}

// placesText is conditions as JSON, a line each; those that are only a pattern as that.
func placesText(list []*prwardenv1.Condition) string {
	lines := make([]string, len(list))
	for i, c := range list {
		lines[i] = c.GetPattern()
		if proto.Size(c) > proto.Size(&prwardenv1.Condition{Pattern: c.GetPattern()}) {
			lines[i] = compactText(c)
		}
	}

	return strings.Join(lines, "\n")
}

// wordsText is misspelt words and what is right, a line each.
func wordsText(words map[string]string) string {
	lines := make([]string, 0, len(words))
	for _, wrong := range slices.Sorted(maps.Keys(words)) {
		lines = append(lines, wrong+": "+words[wrong])
	}

	return strings.Join(lines, "\n")
}

// compactText is a message as JSON without its empty fields.
func compactText(m proto.Message) string {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(m)
	var out bytes.Buffer
	if err != nil || json.Compact(&out, text) != nil { // protojson's blanks are not always the same
		return ""
	}

	return out.String()
}

// repositoryYAML is how a rules file changes a default rule.
func repositoryYAML(id string) string {
	const text = "version: 1\ndisable: [%s]\n# or\noverride:\n  %s: {severity: low, exclude: [\"legacy/**\"]}\n"

	return fmt.Sprintf(text, id, id)
}
