package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/config"
)

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
