package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// The form of a token: `prw_`, 30 random base62 characters (178 bits), and the
// CRC-32 (IEEE) of those 30 as 6 base62 digits. The fixed form lets secret
// scanners recognise a token without asking anyone, and lets a mistyped one be
// refused before a store is asked.
const (
	TokenPrefix   = "prw_"
	tokenRandom   = 30
	tokenChecksum = 6
	tokenLength   = len(TokenPrefix) + tokenRandom + tokenChecksum
	base62        = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewToken returns a new random token.
func NewToken() string {
	body := make([]byte, 0, tokenRandom)
	for len(body) < tokenRandom {
		var buf [tokenRandom]byte
		_, _ = rand.Read(buf[:]) // never fails
		for _, b := range buf {
			// 248 is the largest multiple of 62 in a byte: taking more
			// would make some characters likelier than others.
			if b < 248 && len(body) < tokenRandom {
				body = append(body, base62[b%62])
			}
		}
	}
	return TokenPrefix + string(body) + checksum(string(body))
}

// WellFormed reports whether token has the form of a token and a checksum that
// fits. It says nothing of whether there is such a key.
func WellFormed(token string) bool {
	if len(token) != tokenLength || !strings.HasPrefix(token, TokenPrefix) {
		return false
	}
	body := token[len(TokenPrefix) : tokenLength-tokenChecksum]
	for i := range len(body) {
		if !strings.ContainsRune(base62, rune(body[i])) {
			return false
		}
	}
	return token[tokenLength-tokenChecksum:] == checksum(body)
}

// HashToken returns what is stored of a token: its SHA-256 in hexadecimal. A
// slow hash would add nothing: nobody guesses 178 random bits.
func HashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// NewKeyID returns a new key identifier: `key_` and 128 random bits.
func NewKeyID() string { return "key_" + strings.ToLower(rand.Text()) }

func checksum(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	digits := make([]byte, tokenChecksum)
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return string(digits)
}

// MaskTokens takes API keys out of a text that a caller made up and that is
// going to be logged, such as a path: some put their key where it does not
// belong.
func MaskTokens(text string) string {
	if !strings.Contains(text, TokenPrefix) {
		return text
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, TokenPrefix)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		out.WriteString(TokenPrefix + "***")
		text = strings.TrimLeft(after, base62+"_") // one may follow another
	}
}
