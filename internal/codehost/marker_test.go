package codehost_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/codehost"
)

const fingerprint = "0123456789abcdef0123456789abcdef"

func TestHideMarkers(t *testing.T) {
	t.Parallel()
	first := "[//]: # (prwarden:1:" + fingerprint + ")\n"
	for body, want := range map[string]string{
		codehost.Marker(fingerprint):                                      first + "\n",
		codehost.Marker(fingerprint) + "\nA\n":                            first + "\nA\n",
		codehost.Marker(fingerprint) + "\n\nA":                            first + "\n\nA",
		codehost.Marker(fingerprint) + "\n<!-- prwarden:gone -->\nFixed.": first + "[//]: # (prwarden:gone)\n\nFixed.",
		"A\n" + codehost.Marker(fingerprint):                              "A\n" + codehost.Marker(fingerprint),
		"<!-- prwarden:1:a) [b](c -->":                                    "<!-- prwarden:1:a) [b](c -->",
		"<!-- prwarden:1:a --> B":                                         "<!-- prwarden:1:a --> B",
		"<!-- another -->":                                                "<!-- another -->",
		"":                                                                "",
	} {
		hidden := codehost.HideMarkers(body)
		assert.Equal(t, want, hidden)
		assert.Equal(t, body, codehost.ShowMarkers(hidden))
	}
	assert.Equal(t, codehost.Marker("aa")+"\nA", codehost.ShowMarkers("[//]: # (prwarden:1:aa)\r\n\r\nA"))
}

func TestMarker(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "<!-- prwarden:1:"+fingerprint+" -->", codehost.Marker(fingerprint), "comments of earlier versions have it")
	assert.Equal(t, "<!-- prwarden:1:summary -->", codehost.SummaryMarker)

	tests := map[string]struct {
		body    string
		want    string
		summary bool
	}{
		"alone":             {codehost.Marker(fingerprint), fingerprint, false},
		"with a text":       {codehost.Marker(fingerprint) + "\nA secret.", fingerprint, false},
		"other line ends":   {codehost.Marker(fingerprint) + "\r\nA secret.\r\n", fingerprint, false},
		"space before":      {"\n " + codehost.Marker(fingerprint), fingerprint, false},
		"summary":           {codehost.SummaryMarker + "\n3 findings", "", true},
		"text before":       {"x\n" + codehost.Marker(fingerprint), "", false},
		"two markers":       {codehost.Marker(fingerprint) + "\n" + codehost.SummaryMarker, fingerprint, false},
		"quoted":            {"> " + codehost.Marker(fingerprint), "", false},
		"in a fence":        {"```\n" + codehost.Marker(fingerprint) + "\n```", "", false},
		"another version":   {"<!-- prwarden:2:" + fingerprint + " -->", "", false},
		"no end":            {"<!-- prwarden:1:" + fingerprint, "", false},
		"nothing in it":     {codehost.Marker(""), "", false},
		"capitals":          {codehost.Marker(strings.ToUpper(fingerprint)), "", false},
		"a comment in it":   {codehost.Marker("a --> <b> <!-- c"), "a", false},
		"as long as can be": {codehost.Marker(strings.Repeat("a", 64)), strings.Repeat("a", 64), false},
		"longer":            {codehost.Marker(strings.Repeat("a", 65)), "", false},
		"empty":             {"", "", false},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, codehost.FingerprintIn(test.body))
			assert.Equal(t, test.summary, codehost.IsSummary(test.body))
		})
	}
}

func FuzzMarker(f *testing.F) {
	for _, body := range []string{codehost.Marker(fingerprint) + "\nx", codehost.SummaryMarker, "<!-- prwarden:1:", ""} {
		f.Add(body)
	}

	f.Fuzz(func(t *testing.T, body string) {
		found := codehost.FingerprintIn(body)
		if found != "" {
			assert.True(t, strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), codehost.Marker(found)))
			assert.LessOrEqual(t, len(found), codehost.MaxFingerprint)
			assert.False(t, codehost.IsSummary(body))
		}
	})
}
