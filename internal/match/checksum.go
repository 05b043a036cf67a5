package match

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// checksums say, by the name of a checksum, whether a token has the right one.
var checksums = map[string]func(token []byte) bool{
	"github": endsAsGitHub, "gitlab": endsAsGitLab, "grafana": endsAsGrafana,
}

// Checksums are the names of the checksums that Conditions can ask for, in alphabetical
// order.
func Checksums() []string { return slices.Sorted(maps.Keys(checksums)) }

// IsChecksum says whether a checksum with that name is known.
func IsChecksum(name string) bool { return checksums[name] != nil }

// HasChecksum says whether a token ends in the right checksum of that name; false for a name
// that is not known.
func HasChecksum(name string, token []byte) bool {
	right := checksums[name]

	return right != nil && right(token)
}

const (
	gitHubDigits  = 6 // of the checksum of GitHub's tokens, to base 62
	gitLabDigits  = 7 // to base 36
	grafanaDigits = 8 // to base 16
)

// endsAsGitHub says whether the last six characters are the CRC-32 of what is before them,
// behind the last `_`, to base 62 with the digits `0-9A-Za-z`. See
// https://github.blog/engineering/behind-githubs-new-authentication-token-formats/; npm's
// tokens are made in the same way.
func endsAsGitHub(token []byte) bool {
	const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	body := token[bytes.LastIndexByte(token, '_')+1:]
	if len(body) <= gitHubDigits {
		return false
	}
	body, given := body[:len(body)-gitHubDigits], body[len(body)-gitHubDigits:]

	sum := crc32.ChecksumIEEE(body)
	for i := gitHubDigits - 1; i >= 0; i-- {
		if given[i] != digits[sum%uint32(len(digits))] {
			return false
		}
		sum /= uint32(len(digits))
	}

	return true
}

// endsAsGitLab says whether the last seven characters are the CRC-32 of all that is before
// them, to base 36 with small letters. See
// https://handbook.gitlab.com/handbook/engineering/architecture/design-documents/cells/routable_tokens/
func endsAsGitLab(token []byte) bool {
	if len(token) <= gitLabDigits {
		return false
	}
	body, given := token[:len(token)-gitLabDigits], token[len(token)-gitLabDigits:]
	sum := strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 36)

	return strings.Repeat("0", gitLabDigits-len(sum))+sum == string(given)
}

// endsAsGrafana says whether the last eight characters, behind a `_`, are the CRC-32 of all
// that is before the `_`, its lowest byte first, in small hexadecimal digits. See
// https://github.com/grafana/grafana/blob/main/pkg/components/satokengen/tokengen.go
func endsAsGrafana(token []byte) bool {
	at := bytes.LastIndexByte(token, '_')
	if at < 0 || len(token)-at-1 != grafanaDigits {
		return false
	}
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(token[:at]))

	return hex.EncodeToString(sum) == string(token[at+1:])
}
