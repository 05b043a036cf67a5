package store

import (
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

// withLiterals writes a query of Postgres with its parameters, for which `?`
// stands, in it. Messages of several statements have no other place for them.
func withLiterals(query string, args []any) (string, error) {
	parts := strings.Split(query, "?")
	if len(parts) != len(args)+1 {
		return "", fmt.Errorf("a query with %d places for %d parameters", len(parts)-1, len(args))
	}
	var text strings.Builder
	for i, arg := range args {
		text.WriteString(parts[i])
		if err := writeLiteral(&text, arg); err != nil {
			return "", err
		}
	}
	text.WriteString(parts[len(args)])
	return text.String(), nil
}

func writeLiteral(to *strings.Builder, arg any) error {
	value, err := driver.DefaultParameterConverter.ConvertValue(arg)
	if err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		to.WriteString("NULL")
	case int64:
		// In quotes, as a parameter would be: what it stands beside gives it its
		// type, and a minus sign is no operator.
		to.WriteString("'" + strconv.FormatInt(v, 10) + "'")
	case bool:
		to.WriteString(strings.ToUpper(strconv.FormatBool(v)))
	case []byte:
		to.WriteString(`'\x` + hex.EncodeToString(v) + `'`)
	case string:
		if strings.ContainsRune(v, 0) {
			return errors.New("a parameter with a NUL byte, where the statements would end")
		}
		to.WriteString(pq.QuoteLiteral(v))
	default:
		return fmt.Errorf("a parameter of type %T", arg)
	}
	return nil
}
