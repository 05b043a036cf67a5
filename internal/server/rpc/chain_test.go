package rpc

import (
	"log/slog"
	"strings"
	"testing"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
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
		"logging", "metrics", "errors", "recovery", "admission", "overload", "authorization", "validation",
	}, network)
	assert.Equal(t, []string{"metrics", "errors", "recovery", "authorization", "validation"}, process)
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
	for _, m := range methods() {
		scopes[string(m.Name())] = scopeOf("/" + string(m.Parent().FullName()) + "/" + string(m.Name()))
	}

	assert.Equal(t, map[string]auth.Scope{
		"CreateReview": auth.ReviewsWrite, "CancelReview": auth.ReviewsWrite, "GetReview": auth.ReviewsRead,
		"ListReviews": auth.ReviewsRead, "CountReviews": auth.ReviewsRead, "GetTrends": auth.ReviewsRead, "ListRepositories": auth.ReviewsRead, "SearchFindings": auth.ReviewsRead,
		"GetPolicy": auth.PolicyRead, "SetPolicy": auth.PolicyWrite,
		"SetUpGitHubApp":   auth.HostsWrite,
		"CreateConnection": auth.HostsWrite, "UpdateConnection": auth.HostsWrite, "DeleteConnection": auth.HostsWrite,
		"CreateWebhook": auth.WebhooksWrite, "UpdateWebhook": auth.WebhooksWrite, "DeleteWebhook": auth.WebhooksWrite,
		"RotateWebhookSecret": auth.WebhooksWrite, "SendTestWebhook": auth.WebhooksWrite,
		"RedeliverWebhookMessage": auth.WebhooksWrite, "GetWebhook": auth.WebhooksRead,
		"ListWebhooks": auth.WebhooksRead, "ListWebhookMessages": auth.WebhooksRead,
		"RotateConnectionSecret": auth.HostsWrite, "GetConnection": auth.HostsRead, "ListConnections": auth.HostsRead,
		"TestConnection": auth.HostsRead, "ListConnectionRepositories": auth.HostsRead,
		"ListPullRequests": auth.HostsRead, "GetPullRequest": auth.HostsRead, "ListThreads": auth.HostsRead,
		"RepublishPullRequest": auth.HostsWrite,
		"ListRuleStats":        auth.ReviewsRead, "GetDiff": auth.SourceRead, "ListFindings": auth.ReviewsRead, "GetSarif": auth.ReviewsRead,
		"WatchReview": auth.ReviewsRead, "ListRulesets": auth.RulesRead, "ListRules": auth.RulesRead,
		"GetRule": auth.RulesRead, "TestRule": auth.RulesRead, "CreateRule": auth.RulesWrite, "DeleteRule": auth.RulesWrite,
		"UpdateRule": auth.RulesWrite, "BatchRules": auth.RulesWrite, "ExportRules": auth.RulesRead,
		"ListRuleHistory": auth.RulesRead,
		"CreateKey":       auth.KeysAdmin, "ListKeys": auth.KeysAdmin, "DeleteKey": auth.KeysAdmin,
		"TryRules":   auth.RulesWrite,
		"ListEvents": auth.AuditRead,
		"GetAccount": "", "ChangePassword": "", "ListSessions": "", "EndSession": "", "EndSessions": "",
		"UpdateAccount": "", "ListMemberNames": auth.ReviewsRead, "GetSingleSignOn": auth.OrganizationAdmin,
		"ListMembers": auth.MembersAdmin, "UpdateMember": auth.MembersAdmin, "RemoveMember": auth.MembersAdmin,
		"CreateInvitation": auth.MembersAdmin, "ListInvitations": auth.MembersAdmin, "DeleteInvitation": auth.MembersAdmin,
		"CreatePasswordLink": auth.MembersAdmin,
		"SetTriage":          auth.FindingsTriage, "UndoTriage": auth.FindingsTriage, "ListTriage": auth.ReviewsRead,
	}, scopes)
}

// methods are those of the API, also of services that are yet to come.
func methods() (all []protoreflect.MethodDescriptor) {
	pkg := prwardenv1.File_prwarden_v1_review_proto.Package()
	protoregistry.GlobalFiles.RangeFilesByPackage(pkg, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			s := file.Services().Get(i)
			for j := range s.Methods().Len() {
				all = append(all, s.Methods().Get(j))
			}
		}

		return true
	})

	return all
}

// What gives or takes access needs a password that was just given, of a person.
func TestSomeCallsNeedAFreshPassword(t *testing.T) {
	t.Parallel()
	var fresh []string
	for _, m := range methods() {
		method := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
		owner := auth.Caller{UserID: "usr_a", Role: auth.Owner, Scopes: auth.Scopes()}
		if err := Authorize(owner, method); err != nil {
			require.Equal(t, errs.ReasonSignInAgain, errs.ReasonOf(err), method)
			fresh = append(fresh, string(m.Name()))
		}
		owner.Fresh = true
		require.NoError(t, Authorize(owner, method))
		require.NoError(t, Authorize(auth.Caller{KeyID: "key_a", Scopes: auth.Scopes()}, method))
	}
	assert.ElementsMatch(t, []string{
		"CreateKey", "UpdateMember", "RemoveMember", "CreateInvitation", "CreatePasswordLink",
	}, fresh)

	// A person who is a member of nothing has an account all the same.
	nowhere := auth.Caller{UserID: "usr_a"}
	require.NoError(t, Authorize(nowhere, prwardenv1.AccountService_GetAccount_FullMethodName))
	err := Authorize(nowhere, prwardenv1.MemberService_ListMembers_FullMethodName)
	require.Equal(t, errs.ReasonScopeMissing, errs.ReasonOf(err))
}

// A method that can change something says what it leaves in the audit log, or
// why it leaves nothing.
func TestEveryChangeIsAudited(t *testing.T) {
	t.Parallel()
	for _, m := range methods() {
		rest, _ := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
		rule, _ := proto.GetExtension(m.Options(), prwardenv1.E_Audit).(*prwardenv1.AuditRule)
		switch {
		case rest.GetGet() != "":
			assert.Nil(t, rule, "%s only reads", m.FullName())
		case rule.GetAction() == "NONE":
			assert.NotEmpty(t, rule.GetReason(), "%s needs the reason why it leaves no event", m.FullName())
		default:
			assert.Regexp(t, `^[a-z]+(\.[a-z_]+)+$`, rule.GetAction(), "%s needs the option `audit`", m.FullName())
			assert.Empty(t, rule.GetReason(), m.FullName())
		}
	}
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
