package store

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"
)

// stamp is a time in the database: microseconds since 1970, NULL for the zero
// time. Integers mean the same in every database, need no parsing, and sort.
type stamp struct{ time.Time }

// at makes a stamp of any time.
func at(t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	return stamp{truncate(t)}
}

// Value is what the database keeps.
func (s stamp) Value() (driver.Value, error) {
	if s.IsZero() {
		return nil, nil
	}
	return s.UnixMicro(), nil
}

// Scan reads what Value wrote.
func (s *stamp) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*s = stamp{}
	case int64:
		*s = stamp{time.UnixMicro(v).UTC()}
	default:
		return fmt.Errorf("a time is kept as an integer, not as %T", src)
	}
	return nil
}

// texts is a list of strings in the database: a JSON array. Bytes that are not
// UTF-8 become U+FFFD.
type texts []string

// Value is what the database keeps.
func (l texts) Value() (driver.Value, error) {
	if len(l) == 0 {
		return "[]", nil
	}
	b, err := json.Marshal([]string(l))
	return string(b), err
}

// Scan reads what Value wrote. An empty list is nil.
func (l *texts) Scan(src any) error {
	*l = nil
	if err := scanJSON(src, (*[]string)(l)); err != nil {
		return err
	}
	if len(*l) == 0 {
		*l = nil
	}
	return nil
}

// numbers are a list of numbers as JSON, for a parameter.
type numbers []int

// Value is what the database gets.
func (l numbers) Value() (driver.Value, error) {
	text, err := json.Marshal([]int(l))
	return string(text), err
}

// scanJSON decodes a column that holds JSON text.
func scanJSON(src, dest any) error {
	switch v := src.(type) {
	case string:
		return json.Unmarshal([]byte(v), dest)
	case []byte:
		return json.Unmarshal(v, dest)
	}
	return fmt.Errorf("JSON is kept as text, not as %T", src)
}
