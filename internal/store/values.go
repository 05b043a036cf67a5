package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/rule"
)

// truncate makes t a time as the store keeps and returns it: UTC, in whole
// microseconds.
func truncate(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// timestamp is a time in the database: microseconds since 1970, NULL for the
// zero time. Integers mean the same in every database, need no parsing, and
// sort.
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
	var text []byte
	switch v := src.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		return fmt.Errorf("a list is kept as text, not as %T", src)
	}
	if err := json.Unmarshal(text, (*[]string)(l)); err != nil {
		return err
	}
	if len(*l) == 0 {
		*l = nil
	}

	return nil
}

// encodeSummary writes counts by the words of the severities.
func encodeSummary(s finding.Summary) (string, error) {
	words := make(map[string]int, len(s))
	for severity, n := range s {
		if severity.String() == "" {
			return "", fmt.Errorf("summary: %d is no severity", severity)
		}
		words[severity.String()] = n
	}
	b, err := json.Marshal(words)
	return string(b), err
}

func decodeSummary(text string) (finding.Summary, error) {
	var words map[string]int
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	out := make(finding.Summary, len(words))
	for word, n := range words {
		severity, ok := rule.ParseSeverity(word)
		if !ok {
			return nil, fmt.Errorf("summary: unknown severity %q", word)
		}
		out[severity] = n
	}

	return out, nil
}

// rowsPerInsert is how many rows one INSERT has on SQLite. Of 1, 5, 20, 50 and
// 200 rows this was the quickest.
const rowsPerInsert = 20

// insertRows inserts n rows. into is the table with its columns; row returns the
// values of the row i, none of them NULL.
func (t *tx) insertRows(ctx context.Context, into string, columns, n int, row func(i int) []any) error {
	if t.dialect.arrays {
		return t.insertArrays(ctx, into, columns, n, row)
	}

	values := "(" + strings.Repeat("?, ", columns-1) + "?)"
	query := func(rows int) string {
		return "INSERT INTO " + into + " VALUES " + strings.Repeat(values+", ", rows-1) + values
	}
	args := func(from, to int) []any {
		out := make([]any, 0, columns*(to-from))
		for i := from; i < to; i++ {
			out = append(out, row(i)...)
		}

		return out
	}

	full := n - n%rowsPerInsert
	if full > 0 {
		stmt, err := t.PrepareContext(ctx, query(rowsPerInsert))
		if err != nil {
			return err
		}
		defer func() { _ = stmt.Close() }() // the transaction closes it, too
		for i := 0; i < full; i += rowsPerInsert {
			if _, err := stmt.ExecContext(ctx, args(i, i+rowsPerInsert)...); err != nil {
				return err
			}
		}
	}
	if full < n {
		if _, err := t.exec(ctx, query(n-full), args(full, n)...); err != nil {
			return err
		}
	}

	return nil
}

// arrayBytes is about how many bytes of values one INSERT of arrays has, so that
// no statement gets near its timeout on a link that is slow but not dead.
const arrayBytes = 1 << 20

// insertArrays is insertRows on Postgres, where each statement is a round trip,
// and one with thousands of parameters takes long to plan: each column is one
// parameter, an array.
func (t *tx) insertArrays(ctx context.Context, into string, columns, n int, row func(i int) []any) error {
	for i := 0; i < n; {
		arrays := make([]array, columns)
		for size := 0; i < n && size < arrayBytes; i++ {
			for c, value := range row(i) {
				more, err := arrays[c].add(value)
				if err != nil {
					return err
				}
				size += more
			}
		}

		casts, args := make([]string, columns), make([]any, columns)
		for c := range arrays {
			casts[c], args[c] = arrays[c].parameter()
		}
		query := "INSERT INTO " + into + " SELECT * FROM unnest(" + strings.Join(casts, ", ") + ")"
		if _, err := t.exec(ctx, query, args...); err != nil {
			return err
		}
	}

	return nil
}

// array is a column of rows: values of one type.
type array struct {
	numbers []int64
	texts   []string
	bytes   [][]byte
}

// add returns about how many bytes the value takes.
func (a *array) add(value any) (int, error) {
	v, err := driver.DefaultParameterConverter.ConvertValue(value)
	if err != nil {
		return 0, err
	}

	switch v := v.(type) {
	case int64:
		a.numbers = append(a.numbers, v)
		return 8, nil
	case string:
		a.texts = append(a.texts, v)
		return len(v), nil
	case []byte:
		a.bytes = append(a.bytes, v)
		return 2 * len(v), nil // in hexadecimal
	}

	return 0, fmt.Errorf("a column of %T", value)
}

func (a *array) parameter() (cast string, arg any) {
	switch {
	case a.texts != nil:
		return "CAST(? AS TEXT[])", pq.StringArray(a.texts)
	case a.bytes != nil:
		return "CAST(? AS BYTEA[])", pq.ByteaArray(a.bytes)
	}

	return "CAST(? AS BIGINT[])", pq.Int64Array(a.numbers)
}
