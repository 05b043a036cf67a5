package rule

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
)

// Bounds of what decides about the matches of a rule.
const (
	MaxEntropy    = 8 // bits for each byte
	MaxStopwords  = 100
	MaxStopword   = 100 // bytes
	MaxAllow      = 20  // patterns
	MaxSupersedes = 50  // rules
)

// EntropyDocument is match.Entropy as an author writes it.
type EntropyDocument struct {
	Min   float64 `json:"min,omitempty" yaml:"min,omitempty"`
	Group int     `json:"group,omitempty" yaml:"group,omitempty"`
}

// entropyDocument returns nil for no entropy.
func entropyDocument(e *match.Entropy) *EntropyDocument {
	if e == nil {
		return nil
	}
	return &EntropyDocument{Min: e.Min, Group: e.Group}
}

// conditions are those of a document.
func (d Document) conditions() match.Conditions {
	c := match.Conditions{Checksum: d.Checksum, Stopwords: d.Stopwords, Allow: d.Allow}
	if d.Entropy != nil {
		c.Entropy = &match.Entropy{Min: d.Entropy.Min, Group: d.Entropy.Group}
	}
	return c
}

// conditions adds the readers of what decides about matches to those of a rule.
func (d *decoder) conditions(r *Rule, known map[string]reader) {
	c := &r.Conditions
	known["entropy"] = func(n *yaml.Node, place string) {
		if isNull(n) {
			return
		}
		c.Entropy = &match.Entropy{}
		d.mapping(n, place, map[string]reader{"min": d.fraction(&c.Entropy.Min), "group": d.number(&c.Entropy.Group)})
	}
	known["checksum"] = d.text(&c.Checksum)
	known["stopwords"] = d.texts(&c.Stopwords, MaxStopwords)
	known["allow"] = d.texts(&c.Allow, MaxAllow)
	known["supersedes"] = d.texts(&r.Supersedes, MaxSupersedes)
}

// fraction reads a number that need not be whole.
func (d *decoder) fraction(into *float64) reader {
	return func(n *yaml.Node, place string) {
		if n.Kind != yaml.ScalarNode || n.Decode(into) != nil {
			d.fail(n, "%s: must be a number", place)
		}
	}
}

// checkConditions adds what is wrong with the conditions of a rule and the rules that it
// supersedes.
func checkConditions(v *errs.Violations, r Rule) {
	c := r.Conditions
	if e := c.Entropy; e != nil {
		if e.Min < 0 || e.Min > MaxEntropy || math.IsNaN(e.Min) {
			v.Add("entropy.min", "must be from 0 to %d bits for each character; 0 is for what is usual", MaxEntropy)
		}
		if groups := groupsOf(r.Pattern); e.Group < 0 || e.Group > groups {
			v.Add("entropy.group", "must be a group of the pattern, which has %d, or 0 for the whole match", groups)
		}
	}
	if c.Checksum != "" && !match.IsChecksum(c.Checksum) {
		v.Add("checksum", "%s is no checksum; one of %s", strings.TrimSpace(shown(c.Checksum, "this")),
			strings.Join(match.Checksums(), ", "))
	}
	if hasAtGroup(r.Pattern) && (!r.Multiline || r.Redact) {
		v.Add("pattern", "may have a group named %q, which says where the finding is, only with `multiline` and without "+
			"`redact`", match.AtGroup)
	}
	checkList(v, "stopwords", c.Stopwords, MaxStopwords, checkStopword)
	checkList(v, "allow", c.Allow, MaxAllow, match.CheckPattern)
	checkList(v, "supersedes", r.Supersedes, MaxSupersedes, func(id string) error {
		if err := CheckAnyID(id); err != nil {
			return err
		}
		if FullID(id) == r.FullID() {
			return errors.New("must be another rule")
		}
		return nil
	})
	if r.Multiline && len(r.Supersedes) > 0 {
		v.Add("supersedes", "is for rules that are matched line by line, not with `multiline`")
	}
}

func checkStopword(word string) error {
	switch {
	case strings.TrimSpace(word) == "":
		return errors.New("must not be empty")
	case len(word) > MaxStopword:
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(word), MaxStopword)
	case !isText(word):
		return errors.New("must be UTF-8 without NUL")
	}
	return nil
}

// groupsOf is how many groups a pattern has; 0 for one that is not valid.
func groupsOf(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return re.MaxCap()
}

// hasAtGroup says whether a pattern that is valid has the group that says where its
// matches are.
func hasAtGroup(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)

	return err == nil && slices.ContainsFunc(re.CapNames(), match.IsAtGroup)
}

// conditions writes what decides about the matches of a rule.
func (d digester) conditions(r Rule) {
	c := r.Conditions
	d.flags(c.Entropy != nil)
	if e := c.Entropy; e != nil {
		d.text(strconv.FormatFloat(e.Min, 'g', -1, 64))
		d.number(e.Group)
	}
	d.set(c.Stopwords)
	d.set(c.Allow)

	full := make([]string, len(r.Supersedes))
	for i, id := range r.Supersedes {
		full[i] = FullID(id)
	}
	d.set(full)
	if c.Checksum != "" {
		d.text("checksum") // which no text that follows begins with
		d.text(c.Checksum)
	}
}
