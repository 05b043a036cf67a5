package web

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// TestEveryHostHasItsSteps has a way to connect each kind of host, which says where its
// webhook's address and secret belong.
func TestEveryHostHasItsSteps(t *testing.T) {
	t.Parallel()
	for number := range prwardenv1.CodeHost_Kind_name {
		if kind := prwardenv1.CodeHost_Kind(number); kind != prwardenv1.CodeHost_unspecified {
			assert.Equal(t, kind, hostKindOf(&prwardenv1.Connection{Kind: kind.Enum()}).kind)
		}
	}
	app := int32(1)
	byApp := hostKindOf(&prwardenv1.Connection{Kind: prwardenv1.CodeHost_github.Enum(), AppId: &app})
	assert.Equal(t, "github-own-app", byApp.id)

	for _, k := range hostKinds {
		found, ok := hostKindNamed(k.id)
		require.True(t, ok)
		assert.Equal(t, k.name, found.name)
		if k.newApp {
			assert.Empty(t, k.webhook, "GitHub sets it up")
			continue
		}
		assert.NotEmpty(t, k.before, k.id)
		assert.NotEqual(t, k.app, k.token != "", "%s has one kind of credentials", k.id)
		shown := map[string]int{}
		for _, f := range k.webhook {
			shown[webhookValue(f.label, "https://x.example/hooks/con_1", "s3cret")]++
		}
		assert.Equal(t, 1, shown["https://x.example/hooks/con_1"], k.id)
		assert.Positive(t, shown["s3cret"], k.id)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	assert.Nil(t, numberField(" "))
	assert.Equal(t, int32(12), *numberField("12"))
	for _, bad := range []string{"x", "99999999999"} {
		assert.Zero(t, *numberField(bad), "the call refuses it")
	}
}

func TestTestWords(t *testing.T) {
	t.Parallel()
	account := "bot"
	for _, tt := range []struct {
		c    *prwardenv1.Connection
		want flash
	}{
		{&prwardenv1.Connection{State: prwardenv1.Connection_broken.Enum()},
			flash{Text: "The test found that it doesn't work. What to do is said below.", Bad: true}},
		{&prwardenv1.Connection{State: prwardenv1.Connection_active.Enum(), MissingPermissions: []string{"a", "b"}},
			flash{Text: "The host answers, but the credentials lack permissions, which are named below.", Bad: true}},
		{&prwardenv1.Connection{State: prwardenv1.Connection_active.Enum(), Account: &account},
			flash{Text: "It works, as bot, with all permissions that can be asked for."}},
	} {
		assert.Equal(t, tt.want, testWords(tt.c))
	}
}
