// Package page is how lists of the API are read page by page: how long a page is,
// and the tokens that say where the next one goes on.
package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/errs"
)

// Size returns how many entries a page has: as many as were asked for, from 1 to
// most, and usual for 0. Others are an InvalidArgument of page_size.
func Size(asked, usual, most int) (int, error) {
	if asked == 0 {
		asked = usual
	}
	if asked < 1 || asked > most {
		return 0, errs.Invalid("page_size", "must be from 1 to %d, not %d", most, asked)
	}

	return asked, nil
}

// Cursor is a place in a list that is newest first: behind the entry that was made
// at a time and has an identifier. The zero Cursor is before the first.
type Cursor struct {
	At time.Time // whole microseconds
	ID string
}

// Token returns the token of the page behind the cursor.
func (c Cursor) Token(filters ...string) string {
	return Token(fmt.Sprintf("%d.%s", c.At.UnixMicro(), c.ID), filters...)
}

// After returns the cursor of a token that was made with the same filters, the zero
// Cursor for "". Another token is an InvalidArgument of page_token.
func After(token string, filters ...string) (Cursor, error) {
	if token == "" {
		return Cursor{}, nil
	}

	place, ok := Place(token, filters...)
	at, id, _ := strings.Cut(place, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" {
		return Cursor{}, errs.Invalid("page_token", "must be the next_page_token of a page with the same filters")
	}

	return Cursor{At: time.UnixMicro(micros).UTC(), ID: id}, nil
}

// Token names a place in a list, for those who ask with the same filters. It
// grants nothing: the organization always comes from the caller's key.
func Token(place string, filters ...string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s.%08x", place, checksum(filters)))
}

// Place returns the place of a token that was made with the same filters.
func Place(token string, filters ...string) (place string, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || !utf8.Valid(plain) || bytes.IndexByte(plain, 0) >= 0 { // Postgres has no such texts
		return "", false
	}

	return strings.CutSuffix(string(plain), fmt.Sprintf(".%08x", checksum(filters)))
}

func checksum(filters []string) uint32 {
	return crc32.ChecksumIEEE([]byte(strings.Join(filters, "\x00")))
}
