package store

import (
	"context"
	"database/sql/driver"
	"fmt"
	"strings"

	"github.com/lib/pq"
)

// arrayBytes is about how many bytes of values one INSERT of arrays has, so that
// no statement gets near its timeout on a link that is slow but not dead.
const arrayBytes = 1 << 20

// insertArrays is insertRows on Postgres, where each statement is a way there
// and back, and one with thousands of parameters takes long to plan: each
// column is one parameter, an array.
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
		if _, err := t.exec(ctx, "INSERT INTO "+into+" SELECT * FROM unnest("+strings.Join(casts, ", ")+")", args...); err != nil {
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
