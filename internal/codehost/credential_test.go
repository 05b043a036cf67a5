package codehost_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
)

// TestCredentialIsHidden prints a credential in all ways.
func TestCredentialIsHidden(t *testing.T) {
	t.Parallel()
	c := codehost.Credential{Username: "me", Token: "s3cr3t-t0k3n"}
	in := struct{ Credential codehost.Credential }{c}
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("credential", "c", c, "in", in, "pointer", &c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("credential", "c", c, "in", in, "pointer", &c)
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		fmt.Fprintf(&out, form+form+form, c, in, &in)
	}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	out.Write(text)
	assert.NotContains(t, out.String(), c.Token)
	assert.Contains(t, out.String(), "(hidden)")
}
