package hosthttp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// IsSigned tells whether a header's value is a prefix and the HMAC-SHA256 of a body in
// small hexadecimal digits, by any of the secrets. An empty secret signs nothing.
func IsSigned(value, prefix string, body []byte, secrets [][]byte) bool {
	right := false
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(body)
		sum := prefix + hex.EncodeToString(mac.Sum(nil))
		right = hmac.Equal([]byte(value), []byte(sum)) && len(secret) > 0 || right
	}

	return right
}
