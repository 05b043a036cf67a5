package config

import "testing"

// FuzzCheckFile: no file, however broken, may do more than be refused.
func FuzzCheckFile(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "http_addr: :1\n", "http_addr:\n", "a: b: c", "- 1\n", "scanner: [a, b]\n", "x: &a [*a]\n",
		"organizations:\n  - name: acme\n    repositories: ['acme/*']\n    host: {kind: git, url: 'https://h/{repo}'}\n",
		"? [a]\n: b\n", "organizations: {a: b}\n", "1: 2\n", "!!binary x: y\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, problems := checkFile(data)
		for _, p := range problems {
			if p.Message == "" {
				t.Fatalf("a problem without a message: %+v", p)
			}
		}
		for key, line := range lines {
			if key == "" || line < 1 {
				t.Fatalf("%q is at line %d", key, line)
			}
		}
	})
}
