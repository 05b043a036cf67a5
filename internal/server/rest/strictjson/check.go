package strictjson

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpcerr"
)

// Bounds of a body beside its size.
const (
	// MaxDepth is how deep objects and lists may be nested.
	MaxDepth = 32
	// MaxViolations is how many mistakes are told at once.
	MaxViolations = rpcerr.MaxViolations
	// Body is the name that violations have for the text as a whole.
	Body = "body"
	// maxQuoted is how much of a name that a caller made up is repeated.
	maxQuoted = 60
)

// Check returns everything that is wrong with a body, at most MaxViolations;
// nil when it is exactly right. Fields have paths such as `paths.include[2]`.
// An empty body is right when nothing is required.
func (s *Schema) Check(data []byte) []errs.FieldViolation {
	c := &checker{scanner: scanner{data: data}}
	if c.peek() == 0 && c.pos == len(data) {
		c.missing(s.root, "", nil)
		return c.found
	}
	if i := firstInvalid(data); i >= 0 {
		return []errs.FieldViolation{{Field: Body, Description: fmt.Sprintf("is not valid UTF-8 at byte %d", i)}}
	}
	err := c.object(s.root, "", 1)
	if err == nil && (c.peek() != 0 || c.pos < len(data)) {
		err = c.fail("there is more after the end of the object")
	}
	var syntax *syntaxError
	if errors.As(err, &syntax) {
		// What was found before the text broke may only follow from that.
		return []errs.FieldViolation{{Field: Body, Description: syntax.message}}
	}
	return c.found
}

type checker struct {
	scanner
	found []errs.FieldViolation
}

func (c *checker) violate(path, format string, args ...any) {
	if len(c.found) == MaxViolations {
		return
	}
	if path == "" {
		path = Body
	}
	c.found = append(c.found, errs.FieldViolation{Field: path, Description: fmt.Sprintf(format, args...)})
}

// object checks one object against a message; a value of another type is a
// violation.
func (c *checker) object(m *message, path string, depth int) error {
	if c.peek() != '{' {
		return c.wrong(path, "must be an object", depth)
	}
	seen := make(map[string]bool)
	err := c.members(depth, func(name string) error {
		at := join(path, name)
		f := m.fields[name]
		switch {
		case seen[name]:
			c.violate(at, "is given more than once")
		case f == nil && m.hints[name] != "":
			c.violate(at, "unknown field; names are in snake_case, this one is `%s`", m.hints[name])
		case f == nil:
			c.violate(at, "unknown field; allowed are %s", m.allowed)
		case f.refused != "":
			c.violate(at, "%s", f.refused)
		default:
			seen[name] = true
			return c.field(f, at, depth+1)
		}
		return c.skip(depth + 1)
	})
	if err != nil {
		return err
	}
	c.missing(m, path, seen)
	return nil
}

// members reads an object and calls value for each name, which has to read the
// value.
func (c *checker) members(depth int, value func(name string) error) error {
	if err := c.deep(depth); err != nil {
		return err
	}
	c.pos++ // the brace
	if c.peek() == '}' {
		c.pos++
		return nil
	}
	for {
		if c.peek() != '"' {
			return c.unexpected("a field name in double quotes")
		}
		name, err := c.text()
		if err != nil {
			return err
		}
		if err := c.take(':', "a colon"); err != nil {
			return err
		}
		if err := value(name); err != nil {
			return err
		}
		if c.peek() == '}' {
			c.pos++
			return nil
		}
		if err := c.take(',', "a comma or }"); err != nil {
			return err
		}
	}
}

// elements reads a list and calls value for each index, which has to read the
// value.
func (c *checker) elements(depth int, value func(i int) error) error {
	if err := c.deep(depth); err != nil {
		return err
	}
	c.pos++ // the bracket
	if c.peek() == ']' {
		c.pos++
		return nil
	}
	for i := 0; ; i++ {
		if err := value(i); err != nil {
			return err
		}
		if c.peek() == ']' {
			c.pos++
			return nil
		}
		if err := c.take(',', "a comma or ]"); err != nil {
			return err
		}
	}
}

func (c *checker) deep(depth int) error {
	if depth > MaxDepth {
		return &syntaxError{fmt.Sprintf("is nested deeper than %d levels", MaxDepth)}
	}
	return nil
}

func (c *checker) missing(m *message, path string, seen map[string]bool) {
	for _, name := range m.required {
		if !seen[name] {
			at := join(path, name)
			f := m.fields[name]
			c.violate(at, "is required: %s", strings.TrimPrefix(f.expected(), "must be "))
		}
	}
}

func (c *checker) field(f *field, path string, depth int) error {
	if !f.list {
		return c.value(f, path, depth)
	}
	if c.peek() != '[' {
		return c.wrong(path, f.expected(), depth)
	}
	return c.elements(depth, func(i int) error {
		return c.value(f, path+"["+strconv.Itoa(i)+"]", depth+1)
	})
}

func (c *checker) value(f *field, path string, depth int) error {
	one := *f
	one.list = false
	switch first := c.peek(); {
	case f.kind == kindMessage:
		return c.object(f.message, path, depth)
	case f.kind == kindBool && (first == 't' || first == 'f'):
		return c.skip(depth)
	case f.kind == kindInt32 && (first == '-' || '0' <= first && first <= '9'):
		n, err := c.number()
		if err != nil {
			return err
		}
		if _, err := strconv.ParseInt(n, 10, 32); err != nil {
			c.violate(path, "%s, not %s", one.expected(), quote(n))
		}
		return nil
	case first == '"' && (f.kind == kindString || f.kind == kindEnum || f.kind == kindTimestamp):
		text, err := c.text()
		if err != nil {
			return err
		}
		switch {
		case f.kind == kindEnum && !slices.Contains(f.words, text):
			c.violate(path, "%s, not %s", one.expected(), quote(text))
		case f.kind == kindTimestamp && !isTime(text):
			c.violate(path, "%s, not %s", one.expected(), quote(text))
		}
		return nil
	}
	return c.wrong(path, one.expected(), depth)
}

// wrong skips a value of a type that is not allowed and says so.
func (c *checker) wrong(path, expected string, depth int) error {
	got := "a number"
	switch c.peek() {
	case '{':
		got = "an object"
	case '[':
		got = "a list"
	case '"':
		got = "a string"
	case 't', 'f':
		got = "a boolean"
	case 'n':
		got = "null"
	}
	if err := c.skip(depth); err != nil {
		return err
	}
	if got == "null" {
		got = "null; leave the field out instead"
	}
	c.violate(path, "%s, not %s", expected, got)
	return nil
}

// skip reads any value.
func (c *checker) skip(depth int) error {
	switch first := c.peek(); {
	case first == '{':
		return c.members(depth, func(string) error { return c.skip(depth + 1) })
	case first == '[':
		return c.elements(depth, func(int) error { return c.skip(depth + 1) })
	case first == '"':
		_, err := c.text()
		return err
	case first == 't':
		return c.literal("true")
	case first == 'f':
		return c.literal("false")
	case first == 'n':
		return c.literal("null")
	case first == '-' || '0' <= first && first <= '9':
		_, err := c.number()
		return err
	}
	return c.unexpected("a value")
}

// expected is a phrase that says what the field must be.
func (f *field) expected() string {
	one, many := "", ""
	switch f.kind {
	case kindString:
		one, many = "a string", "strings"
	case kindBool:
		one, many = "true or false", "booleans"
	case kindInt32:
		one, many = "an integer from -2147483648 to 2147483647, written as a number", "integers"
	case kindEnum:
		words := "`" + strings.Join(f.words, "`, `") + "`"
		one, many = "one of "+words, "words of "+words
		if len(f.words) == 1 {
			one = words
		}
	case kindTimestamp:
		one, many = "a time as in RFC 3339, such as \"2026-11-20T09:30:00Z\"", "times as in RFC 3339"
	case kindMessage:
		one, many = "an object", "objects"
	}
	if f.list {
		return "must be a list of " + many
	}
	return "must be " + one
}

var timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$`)

func isTime(s string) bool {
	if !timeForm.MatchString(s) {
		return false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999
}

// join makes the path of a member. Names that a caller made up are shown
// quoted when they are not plain, and cut when long.
func join(path, name string) string {
	if !plain(name) {
		name = quote(name)
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func plain(name string) bool {
	if name == "" || len(name) > maxQuoted {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

func quote(s string) string {
	if len(s) > maxQuoted {
		cut := maxQuoted
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return strconv.Quote(s[:cut]) + "…"
	}
	return strconv.Quote(s)
}

func firstInvalid(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
