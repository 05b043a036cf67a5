package hosttest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// wholeBody is the longest body of which each bit is flipped; of a longer one about as
// many are, because each costs a look at all of it.
const wholeBody = 4 << 10

// EachBit checks that a delivery verifies, whose signature is in a header, and that it
// doesn't with any bit of the signature or the body flipped.
func EachBit(t testing.TB, h codehost.Host, header http.Header, signature string, body []byte, name string) {
	t.Helper()
	verify := func() error {
		_, err := h.Verify(header, body, [][]byte{[]byte("another"), []byte(Secret)}, time.Now())
		return err
	}
	require.NoError(t, verify(), name)

	right := header.Get(signature)
	for bit := range len(right) * 8 {
		changed := []byte(right)
		changed[bit/8] ^= 1 << (bit % 8)
		header.Set(signature, string(changed))
		require.ErrorIs(t, verify(), codehost.ErrSignature, "%s, bit %d of the signature", name, bit)
	}
	header.Set(signature, right)

	for bit := 0; bit < len(body)*8; bit += 1 + len(body)/wholeBody*7 {
		body[bit/8] ^= 1 << (bit % 8)
		require.ErrorIs(t, verify(), codehost.ErrSignature, "%s, bit %d of the body", name, bit)
		body[bit/8] ^= 1 << (bit % 8)
	}
}

// HexMAC is the HMAC-SHA256 of a body by Secret, in hexadecimal digits.
func HexMAC(body []byte) string {
	mac := hmac.New(sha256.New, []byte(Secret))
	mac.Write(body)

	return hex.EncodeToString(mac.Sum(nil))
}
