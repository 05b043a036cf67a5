package structure

import (
	"bytes"
	"encoding/json"
)

// Condition says which code is meant. All that it has must hold. Its pattern, or else
// what is in All or Any, finds places; the rest looks at a place that was found. One
// that finds no places can stand only where a place is known: in Not, All and Any.
type Condition struct {
	Pattern   string          `json:"pattern,omitempty" yaml:"pattern"`
	Any       []Condition     `json:"any,omitempty" yaml:"any"`               // one of them holds
	All       []Condition     `json:"all,omitempty" yaml:"all"`               // all of them hold
	Not       *Condition      `json:"not,omitempty" yaml:"not"`               // it does not hold for the same place
	Inside    *Condition      `json:"inside,omitempty" yaml:"inside"`         // the place is within one of its places
	NotInside *Condition      `json:"not_inside,omitempty" yaml:"not_inside"` // it is within none
	Has       *Condition      `json:"has,omitempty" yaml:"has"`               // one of its places is within the place
	Depth     string          `json:"depth,omitempty" yaml:"depth"`           // of Has: one of the depths
	Where     map[string]Test `json:"where,omitempty" yaml:"where"`           // by metavariable
	Focus     string          `json:"focus,omitempty" yaml:"focus"`           // the metavariable that is meant
}

// Test says what code must be that a metavariable stands for. All that it has must hold.
type Test struct {
	Regex   string     `json:"regex,omitempty" yaml:"regex"` // matches in the code; in a string, between its quotes
	Any     []Test     `json:"any,omitempty" yaml:"any"`
	Not     *Test      `json:"not,omitempty" yaml:"not"`
	Has     *Condition `json:"has,omitempty" yaml:"has"` // one of its places is within the code
	Depth   string     `json:"depth,omitempty" yaml:"depth"`
	Is      string     `json:"is,omitempty" yaml:"is"` // one of the kinds
	Entropy *Entropy   `json:"entropy,omitempty" yaml:"entropy"`
}

// Entropy asks for a text that looks as if it was made at random.
type Entropy struct {
	Min float64 `json:"min,omitempty" yaml:"min"` // bits for each byte; 0 for what is usual
}

// The depths at which Has looks. DepthDirect leaves out what is in brackets within the
// code, but for one pair around it or, of a whole match, within it.
const (
	DepthAnywhere = "anywhere" // the default
	DepthDirect   = "direct"
)

// The kinds of code that Test.Is names.
const (
	IsString       = "string"       // a string without code in it
	IsInterpolated = "interpolated" // a string with code in it
	IsConstant     = "constant"     // literals, and names that the file assigns only such
)

// Bounds of a condition with all that are in it.
const (
	MaxConditions = 50   // conditions and tests
	MaxNesting    = 16   // one in the other
	MaxRegex      = 1024 // bytes
)

// Fields are the names of what was given beside the pattern.
func (c Condition) Fields() (given []string) {
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"any", len(c.Any) > 0}, {"all", len(c.All) > 0}, {"not", c.Not != nil}, {"inside", c.Inside != nil},
		{"not_inside", c.NotInside != nil}, {"has", c.Has != nil}, {"depth", c.Depth != ""}, {"where", len(c.Where) > 0},
		{"focus", c.Focus != ""},
	} {
		if x.given {
			given = append(given, x.name)
		}
	}

	return given
}

// plainCondition is Condition without its methods.
type plainCondition Condition

// MarshalJSON writes a condition that is only a pattern as a text.
func (c Condition) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	var v any = plainCondition(c)
	if len(c.Fields()) == 0 {
		v = c.Pattern
	}
	err := encoder.Encode(v)

	return out.Bytes(), err
}

// UnmarshalJSON reads a text as a condition that is only a pattern.
func (c *Condition) UnmarshalJSON(data []byte) error {
	*c = Condition{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.Pattern)
	}

	return json.Unmarshal(data, (*plainCondition)(c))
}
