// Package page makes the tokens with which lists of the API are read page by page.
package page

import (
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strings"
)

// Token names a place in a list, for those who ask with the same filters. It
// grants nothing: the organization always comes from the caller's key.
func Token(place string, filters ...string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s.%08x", place, checksum(filters)))
}

// Place returns the place of a token that was made with the same filters.
func Place(token string, filters ...string) (place string, ok bool) {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", false
	}

	return strings.CutSuffix(string(plain), fmt.Sprintf(".%08x", checksum(filters)))
}

func checksum(filters []string) uint32 {
	return crc32.ChecksumIEEE([]byte(strings.Join(filters, "\x00")))
}
