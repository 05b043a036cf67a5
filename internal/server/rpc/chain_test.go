package rpc

import (
	"io"
	"log/slog"
	"testing"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

func TestOrderOfTheChain(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	admitter := auth.NewAdmitter(nil, auth.NewMemoryLimiter(time.Now), nil, 0, nil)
	chain, err := NewChain(admitter, auth.NewGate(auth.DefaultGateLimits(), nil, log, nil), grpcprom.NewServerMetrics(), log)
	require.NoError(t, err)
	var names []string
	for _, l := range chain.links {
		names = append(names, l.name)
		assert.NotNil(t, l.pass, l.name)
	}
	assert.Equal(t, []string{
		"request id", "logging", "metrics", "errors", "recovery", "overload", "admission", "authorization", "reflection", "validation",
	}, names)
}

func TestEveryMethodHasAScope(t *testing.T) {
	t.Parallel()
	n := 0
	for _, file := range []protoreflect.FileDescriptor{
		prwardenv1.File_prwarden_v1_review_proto, prwardenv1.File_prwarden_v1_rule_proto, prwardenv1.File_prwarden_v1_key_proto,
	} {
		for i := range file.Services().Len() {
			s := file.Services().Get(i)
			for j := range s.Methods().Len() {
				method := "/" + string(s.FullName()) + "/" + string(s.Methods().Get(j).Name())
				assert.NotEmpty(t, scopeOf(method), method)
				assert.LessOrEqual(t, len(method), maxShown)
				n++
			}
		}
	}
	assert.Equal(t, 16, n)
}

func TestChooseRequestID(t *testing.T) {
	t.Parallel()
	for _, sane := range []string{"a", "018f-AB_c.d", string(make128('x'))} {
		assert.Equal(t, sane, ChooseRequestID(sane))
	}
	for _, odd := range []string{"", "a b", "a\nb", "é", `"`, "a,b", "a/b", string(make128('x')) + "x"} {
		got := ChooseRequestID(odd)
		assert.NotEqual(t, odd, got)
		assert.Regexp(t, `^[a-z2-7]{26}$`, got)
	}
}

func make128(c byte) []byte {
	out := make([]byte, 128)
	for i := range out {
		out[i] = c
	}
	return out
}
