package config

import "testing"

// FuzzParseFile: no file, however broken, may do more than be refused.
func FuzzParseFile(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "http_addr: :1\n", "http_addr:\n", "a: b: c", "- 1\n", "scanner: [a, b]\n", "x: &a [*a]\n",
		"organizations:\n  - name: acme\n    repositories: ['acme/*']\n    host: {kind: git, url: 'https://h/{repo}'}\n",
		"? [a]\n: b\n", "organizations: {a: b}\n", "1: 2\n", "!!binary x: y\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		f, problems := parseFile("prwarden.yaml", data)
		for _, p := range problems {
			if p.Message == "" {
				t.Fatalf("a problem without a message: %+v", p)
			}
		}
		for _, s := range Settings(everyCommand) {
			_, _ = f.values(s)
		}
	})
}
