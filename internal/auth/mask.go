package auth

import "strings"

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
