package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// truncate makes t a time as the store keeps and returns it: UTC, in whole
// microseconds.
func truncate(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// timestamp is a time in the database: microseconds since 1970, NULL for the
// zero time. Integers mean the same in every database and sort.
type timestamp struct{ time.Time }

// at makes a timestamp of any time.
func at(t time.Time) timestamp {
	if t.IsZero() {
		return timestamp{}
	}

	return timestamp{truncate(t)}
}

// Value is what the database keeps.
func (s timestamp) Value() (driver.Value, error) {
	if s.IsZero() {
		return nil, nil
	}

	return s.UnixMicro(), nil
}

// Scan reads what Value wrote.
func (s *timestamp) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s = timestamp{}
	case int64:
		*s = timestamp{time.UnixMicro(v).UTC()}
	default:
		return fmt.Errorf("a time is kept as an integer, not as %T", src)
	}

	return nil
}

// severity is a severity in the database: its word.
type severity rule.Severity

// Value is what the database keeps.
func (s severity) Value() (driver.Value, error) {
	word := rule.Severity(s).String()
	if word == "" {
		return nil, fmt.Errorf("%d is no severity", s)
	}

	return word, nil
}

// Scan reads what Value wrote.
func (s *severity) Scan(src any) error {
	word, err := text(src)
	if err != nil {
		return err
	}
	known, ok := rule.ParseSeverity(string(word))
	if !ok {
		return fmt.Errorf("unknown severity %q", word)
	}
	*s = severity(known)

	return nil
}

// jsonOf is a value that the database keeps as JSON. Bytes that are not UTF-8
// become U+FFFD.
type jsonOf[T any] struct{ value T }

// Value is what the database keeps.
func (j jsonOf[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.value)

	return string(b), err
}

// Scan reads what Value wrote.
func (j *jsonOf[T]) Scan(src any) error {
	b, err := text(src)
	if err != nil {
		return err
	}
	var value T
	err = json.Unmarshal(b, &value)
	j.value = value

	return err
}

// text is a text as drivers give it.
func text(src any) ([]byte, error) {
	switch v := src.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	}

	return nil, fmt.Errorf("a text is kept as text, not as %T", src)
}

// summary is how many findings of each severity there are.
type summary = jsonOf[map[severity]int]

func newSummary(s finding.Summary) summary {
	counts := make(map[severity]int, len(s))
	for of, n := range s {
		counts[severity(of)] = n
	}

	return summary{counts}
}

// MarshalText is the word of the severity, for keys in JSON.
func (s severity) MarshalText() ([]byte, error) {
	word, err := s.Value()
	if err != nil {
		return nil, err
	}

	return text(word)
}

// UnmarshalText reads what MarshalText wrote.
func (s *severity) UnmarshalText(word []byte) error { return s.Scan(word) }
