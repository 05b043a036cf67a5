package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
)

const all = config.Serve | config.Scanner | config.Migrate | config.Keys | config.Review | config.Backup |
	config.Organizations

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
	var fields, settings []string
	collect(reflect.TypeFor[config.Config](), &fields)
	for _, s := range config.Settings(all) {
		if s.FileKey() != "" {
			settings = append(settings, s.Key)
		}
		assert.NotEmpty(t, s.Usage, s.Key)
		assert.NotContains(t, s.Usage, "`", "pflag would take it for the name of the value")
		assert.NotZero(t, s.Commands, s.Key)
	}
	assert.ElementsMatch(t, fields, append(settings, "organizations"))
}

func collect(t reflect.Type, keys *[]string) {
	for f := range t.Fields() {
		if tag := f.Tag.Get("koanf"); tag == ",squash" {
			collect(f.Type, keys)
		} else {
			*keys = append(*keys, tag)
		}
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
