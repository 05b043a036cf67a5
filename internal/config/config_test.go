package config_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
)

const all = config.Command(255)

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
	settings := []any{&c.Organizations}
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

func TestHelpShowsAllThreeSpellings(t *testing.T) {
	t.Parallel()
	for _, cmd := range []config.Command{
		config.Serve, config.Scanner, config.Migrate, config.Keys, config.Review, config.Backup, config.Organizations,
	} {
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		config.Bind(cmd, flags)
		usage := flags.FlagUsages()
		for _, s := range config.Settings(cmd) {
			assert.Contains(t, usage, "--"+s.Flag())
			assert.Contains(t, usage, "env "+s.Env())
			if key := s.FileKey(); key != "" {
				assert.Contains(t, usage, "file "+key)
			}
		}
		for line := range strings.Lines(usage) {
			assert.LessOrEqual(t, len(strings.TrimRight(line, "\n")), 120, line)
		}
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]config.Size{
		"0B": 0, "1B": 1, "1KiB": 1 << 10, "1536MiB": 1536 << 20, "10GiB": 10 << 30, "2TiB": 2 << 40,
	} {
		got, err := config.ParseSize(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
	}
	for _, text := range []string{"", "10", "10GB", "-1GiB", "GiB", "1.5GiB", "99999999999TiB", "1 2KiB"} {
		_, err := config.ParseSize(text)
		assert.Error(t, err, text)
	}
}

func TestTLSTo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		link config.Link
		addr string
		want bool
	}{
		{"loopback", config.Link{}, "127.0.0.1:1", false},
		{"loopback by name", config.Link{}, "localhost:1", false},
		{"IPv6 loopback", config.Link{}, "[::1]:1", false},
		{"beyond loopback", config.Link{}, "10.0.0.1:1", true},
		{"a name is beyond", config.Link{}, "scanner.internal:1", true},
		{"loopback with authorities", config.Link{TLSCA: "ca.pem"}, "127.0.0.1:1", true},
		{"insecure", config.Link{Insecure: true}, "10.0.0.1:1", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, tt.link.TLSTo(tt.addr))
		})
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
		"90":                   "is not an age",
		"-90d":                 "is not an age",
		"1.5d":                 "is not an age",
		"90m":                  "is not an age",
		"d":                    "is not an age",
		"99999999999999999999": "is not an age",
		"36501d":               "at most 36500d",
		"4294967295d":          "at most 36500d",
		"23h":                  "23h is not allowed; it must be 0, which is for ever, or from 1d to 36500d",
	} {
		_, err := load(t, config.Serve, "", nil, "--keep-reviews="+text)
		require.ErrorContains(t, err, "keep_reviews (from --keep-reviews)", text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestAgeIsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1h", "23h", "1d", "25h", "36500d"} {
		a, err := config.ParseAge(text)
		require.NoError(t, err)
		assert.Equal(t, text, a.String())
	}
}
