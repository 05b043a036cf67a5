package rpc

import (
	"log/slog"
	"strings"
	"testing"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/server/overload"
)

func TestOrderOfTheChain(t *testing.T) {
	t.Parallel()
	chain := newChain(Admission{}, grpcprom.NewServerMetrics(), slog.New(slog.DiscardHandler))
	var network, process []string
	for _, l := range chain {
		network = append(network, l.name)
		if !l.network {
			process = append(process, l.name)
		}

		assert.NotNil(t, l.unary, l.name)
	}

	assert.Equal(t, []string{
		"logging", "metrics", "errors", "recovery", "admission", "overload", "validation",
	}, network)
	assert.Equal(t, []string{"metrics", "errors", "recovery", "validation"}, process)
}

func TestPanicInAdmissionGivesItsRoomBack(t *testing.T) {
	t.Parallel()
	guard := overload.NewGuard(overload.DefaultLimits(), nil, slog.New(slog.DiscardHandler), func(overload.Limit) {})
	request, err := guard.Open(t.Context(), overload.LimitReceiving, auth.Credentials{})
	require.NoError(t, err)
	ctx := overload.NewContext(t.Context(), request)
	assert.Panics(t, func() { _, _ = Admission{Guard: guard}.admit(ctx) }, "there is no Admitter")
	assert.Zero(t, guard.Used(overload.LimitWork)+guard.Used(overload.LimitReceiving))
}

func TestEveryMethodHasAScope(t *testing.T) {
	t.Parallel()
	scopes := map[string]auth.Scope{}
	for _, file := range []protoreflect.FileDescriptor{
		prwardenv1.File_prwarden_v1_review_proto, prwardenv1.File_prwarden_v1_rule_proto,
		prwardenv1.File_prwarden_v1_key_proto,
	} {
		for i := range file.Services().Len() {
			s := file.Services().Get(i)
			for j := range s.Methods().Len() {
				name := string(s.Methods().Get(j).Name())
				scopes[name] = scopeOf("/" + string(s.FullName()) + "/" + name)
			}
		}
	}

	assert.Equal(t, map[string]auth.Scope{
		"CreateReview": auth.ReviewsWrite, "CancelReview": auth.ReviewsWrite, "GetReview": auth.ReviewsRead,
		"ListReviews": auth.ReviewsRead, "ListFindings": auth.ReviewsRead, "GetSarif": auth.ReviewsRead,
		"WatchReview": auth.ReviewsRead, "ListRulesets": auth.RulesRead, "ListRules": auth.RulesRead,
		"GetRule": auth.RulesRead, "TestRule": auth.RulesRead, "CreateRule": auth.RulesWrite, "DeleteRule": auth.RulesWrite,
		"CreateKey": auth.KeysAdmin, "ListKeys": auth.KeysAdmin, "DeleteKey": auth.KeysAdmin,
	}, scopes)
}

func TestChooseRequestID(t *testing.T) {
	t.Parallel()
	for _, sane := range []string{"a", "018f-AB_c.d", strings.Repeat("x", 128)} {
		assert.Equal(t, sane, ChooseRequestID(sane))
	}

	for _, odd := range []string{"", "a b", "a\nb", "é", `"`, "a,b", "a/b", strings.Repeat("x", 129)} {
		got := ChooseRequestID(odd)
		assert.NotEqual(t, odd, got)
		assert.Regexp(t, `^[a-z2-7]{26}$`, got)
	}
}
