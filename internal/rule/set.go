package rule

// Set is the rules that one scan may apply, and their digest: equal digests
// mean equal rules.
type Set struct {
	Rules  []Rule
	Digest string // SHA-256, in hexadecimal
}
