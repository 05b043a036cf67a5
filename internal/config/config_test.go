package config_test

import (
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
)

const all = ^config.Command(0)

// The default cache directory is the user's, and who runs tests may have none.
func TestMain(m *testing.M) {
	if _, err := os.UserCacheDir(); err != nil {
		os.Setenv("HOME", os.TempDir())
	}
	m.Run()
}

// Every field of the struct is a setting and every setting is a field, so
// that nothing can be set in one way only.
func TestSettingsAndFieldsAreTheSame(t *testing.T) {
	t.Parallel()
	var c config.Config
	settings := []any{&c.Organizations, &c.Connections, &c.SecretKeys, &c.SignIn} // which only a file can hold
	for _, s := range config.Settings(all) {
		if s.Field != nil {
			settings = append(settings, s.Field(&c))
		}
		assert.NotEmpty(t, s.Usage, s.Key)
		assert.NotContains(t, s.Usage, "`", "pflag would take it for the name of the value")
		assert.NotZero(t, s.Commands, s.Key)
	}

	var fields []any
	for _, section := range reflect.ValueOf(&c).Elem().Fields() {
		for _, field := range section.Fields() {
			fields = append(fields, field.Addr().Interface())
		}
	}
	assert.Len(t, settings, len(fields))
	for _, field := range fields {
		assert.True(t, slices.ContainsFunc(settings, func(s any) bool { return s == field }), "%T", field)
	}
}

func TestTLSTo(t *testing.T) {
	t.Parallel()
	const loopback, beyond = "127.0.0.1:1", "10.0.0.1:1"
	for name, tt := range map[string]struct {
		link config.Link
		addr string
		want bool
	}{
		"loopback":                  {config.Link{}, loopback, false},
		"beyond loopback":           {config.Link{}, beyond, true},
		"a name is beyond":          {config.Link{}, "scanner.internal:1", true},
		"loopback with authorities": {config.Link{TLSCA: "ca.pem"}, loopback, true},
		"insecure":                  {config.Link{Insecure: true}, beyond, false},
	} {
		assert.Equal(t, tt.want, tt.link.TLSTo(tt.addr), name)
	}
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"127.0.0.1:80": true, "127.8.8.8:0": true, "[::1]:80": true, "[::ffff:127.0.0.1]:80": true, "localhost:80": true,
		":80": false, "0.0.0.0:80": false, "[::]:80": false, "10.0.0.1:80": false, "example.com:80": false, "nonsense": false,
	} {
		assert.Equal(t, want, config.IsLoopback(addr), addr)
	}
}

func TestKeepReviews(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Age{
		"0":   0,
		"24h": config.Age(24 * time.Hour),
		"36h": config.Age(36 * time.Hour),
		"90d": config.Age(90 * 24 * time.Hour),
	} {
		c, err := load(t, config.Serve, "", nil, "--keep-reviews", text)
		require.NoError(t, err, text)
		assert.Equal(t, want, c.KeepReviews, text)
		c, err = load(t, config.Serve, "keep_reviews: "+text+"\n", nil)
		require.NoError(t, err, text)
		assert.Equal(t, want, c.KeepReviews, text)
	}
	for text, want := range map[string]string{
		"90": "is not an age", "-90d": "is not an age", "1.5d": "is not an age", "d": "is not an age",
		"99999999999999999999d": "is not an age",
		"36501d":                "876024h0m0s is not allowed; it must be 0, which is for ever, or from 24h to 36500d",
		"90m":                   "1h30m0s is not allowed", "-24h": "is not allowed",
	} {
		_, err := load(t, config.Serve, "", nil, "--keep-reviews="+text)
		require.ErrorContains(t, err, "keep_reviews (from --keep-reviews)", text)
		assert.ErrorContains(t, err, want, text)
	}
}
