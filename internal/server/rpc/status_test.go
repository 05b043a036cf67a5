package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/rpc"
)

// The contract: every kind and reason with its code and HTTP status.
func TestTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind    errs.Kind
		code    codes.Code
		http    int
		reasons []string
	}{
		{errs.Internal, codes.Internal, 500, []string{"INTERNAL"}},
		{errs.InvalidArgument, codes.InvalidArgument, 400, []string{"INVALID_ARGUMENT"}},
		{errs.InvalidArgument, codes.InvalidArgument, 413, []string{"BODY_TOO_LARGE"}},
		{errs.InvalidArgument, codes.InvalidArgument, 415, []string{"UNSUPPORTED_MEDIA_TYPE"}},
		{errs.Unauthenticated, codes.Unauthenticated, 401,
			[]string{"KEY_MISSING", "KEY_INVALID", "KEY_EXPIRED", "KEY_REVOKED", "SIGNATURE_INVALID",
				"SIGN_IN_FAILED", "SESSION_ENDED"}},
		{errs.PermissionDenied, codes.PermissionDenied, 403,
			[]string{"SCOPE_MISSING", "SIGN_IN_AGAIN", "PERSON_NEEDED", "SINGLE_SIGN_ON_ONLY", "INVITED_OTHER",
				"REPOSITORY_NOT_ALLOWED", "TRIAGE_NOT_ALLOWED", "DEFAULT_RULE"}},
		{errs.NotFound, codes.NotFound, 404,
			[]string{"ROUTE_NOT_FOUND", "REVIEW_NOT_FOUND", "RULE_NOT_FOUND", "FINDING_NOT_FOUND", "TRIAGE_NOT_FOUND",
				"RULESET_NOT_FOUND", "KEY_NOT_FOUND",
				"CONNECTION_NOT_FOUND", "PULL_REQUEST_NOT_FOUND", "WEBHOOK_NOT_FOUND", "MESSAGE_NOT_FOUND",
				"USER_NOT_FOUND", "MEMBER_NOT_FOUND", "SESSION_NOT_FOUND", "INVITATION_NOT_FOUND", "LINK_NOT_FOUND",
				"ORGANIZATION_NOT_FOUND"}},
		{errs.AlreadyExists, codes.AlreadyExists, 409, []string{"RULE_EXISTS", "CONNECTION_EXISTS", "USER_EXISTS", "MEMBER_EXISTS"}},
		{errs.Aborted, codes.Aborted, 409, []string{"IDEMPOTENCY_CONFLICT", "ETAG_MISMATCH"}},
		{errs.FailedPrecondition, codes.FailedPrecondition, 409,
			[]string{"REVIEW_FINISHED", "REVIEW_NOT_COMPLETE", "TRIAGE_CHANGED", "RULE_QUOTA", "KEY_QUOTA", "CONNECTION_QUOTA",
				"CONNECTION_DECLARED", "CONNECTION_BROKEN", "SECRETS_KEY_MISSING", "WEBHOOK_QUOTA", "WEBHOOK_DISABLED",
				"LAST_OWNER", "MEMBER_QUOTA", "MEMBER_ELSEWHERE", "PUBLIC_URL_MISSING"}},
		{errs.ResourceExhausted, codes.ResourceExhausted, 429, []string{"RATE_LIMITED"}},
		{errs.Unavailable, codes.Unavailable, 503, []string{"UNAVAILABLE", "QUEUE_FULL", "WATCH_LIMIT", "HOST_UNAVAILABLE"}},
		{errs.Canceled, codes.Canceled, 499, []string{"CANCELED"}},
		{errs.DeadlineExceeded, codes.DeadlineExceeded, 504, []string{"DEADLINE_EXCEEDED"}},
		{errs.Unimplemented, codes.Unimplemented, 405, []string{"METHOD_NOT_ALLOWED"}},
	}

	covered := map[string]bool{}
	for _, tc := range tests {
		for _, reason := range tc.reasons {
			covered[reason] = true
			s := rpc.Status(errs.New(tc.kind, reason, "what to do"))
			assert.Equal(t, tc.code, s.Code(), reason)
			assert.Equal(t, reason, rpc.Reason(s))
			assert.Equal(t, tc.http, rpc.HTTPStatus(s.Code(), reason), reason)
		}
	}

	for _, reason := range reasons(t) {
		assert.True(t, covered[reason], "reason %s is not in the table", reason)
	}
}

// reasons reads the constants of the package errs.
func reasons(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../errs/errs.go", nil, 0)
	require.NoError(t, err)
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			out = append(out, word)
		}

		return true
	})

	require.NotEmpty(t, out)
	return out
}

// fieldsOf are what a status says of the fields of a request.
func fieldsOf(s *status.Status) map[string]string {
	fields := map[string]string{}
	for _, detail := range s.Details() {
		bad, _ := detail.(*errdetails.BadRequest)
		for _, f := range bad.GetFieldViolations() {
			if _, ok := fields[f.GetField()]; !ok {
				fields[f.GetField()] = f.GetDescription()
			}
		}
	}

	return fields
}

func FuzzStatus(f *testing.F) {
	f.Add(3, "REASON", "message", "field", "description", int64(time.Second), "k", "v")
	f.Add(9, "", "\xff", "\x00", "", int64(-1), "", "\xc3")
	f.Fuzz(func(t *testing.T, kind int, reason, message, field, description string, wait int64, k, v string) {
		s := rpc.Status(&errs.Error{
			Kind: errs.Kind(kind), Reason: reason, Message: message, RetryAfter: time.Duration(wait),
			Metadata: map[string]string{k: v}, Fields: []errs.FieldViolation{{Field: field, Description: description}},
		})

		assert.NotEqual(t, codes.OK, s.Code())
		if s.Code() != codes.Internal {
			assert.Equal(t, errs.Cut(message, 1<<10), s.Message())
		}
	})
}

func TestNothingInternalIsTold(t *testing.T) {
	t.Parallel()
	secret := "pq: password authentication failed"
	for _, err := range []error{
		errors.New(secret),
		fmt.Errorf("store: %w", errors.New(secret)),
		errs.New(errs.Internal, "SECRET_REASON", "%s", secret),
		status.Error(codes.Internal, secret),
		status.Error(codes.Unknown, secret),
		status.Error(codes.PermissionDenied, secret),
		&errs.Error{Kind: errs.Kind(99), Message: secret},
	} {
		s := rpc.Status(err)
		assert.Equal(t, codes.Internal, s.Code())
		assert.NotContains(t, s.String(), "password")
		assert.NotContains(t, fmt.Sprint(s.Details()), "SECRET")
		assert.True(t, rpc.Unexpected(err), "%v", err)
	}

	cause := &errs.Error{Kind: errs.NotFound, Reason: "X", Message: "not there", Err: errors.New(secret)}
	assert.Equal(t, "not there", rpc.Status(cause).Message(), "the cause of an expected error is for the log too")
	assert.False(t, rpc.Unexpected(cause))
}

func TestErrorsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err    error
		code   codes.Code
		reason string
	}{
		"canceled":       {fmt.Errorf("query: %w", context.Canceled), codes.Canceled, "CANCELED"},
		"deadline":       {context.DeadlineExceeded, codes.DeadlineExceeded, "DEADLINE_EXCEEDED"},
		"gRPC: canceled": {status.Error(codes.Canceled, "context canceled"), codes.Canceled, "CANCELED"},
		"gRPC: deadline": {status.Error(codes.DeadlineExceeded, "x"), codes.DeadlineExceeded, "DEADLINE_EXCEEDED"},
		"gRPC: too large": {status.Error(codes.ResourceExhausted, "grpc: received message larger than max"),
			codes.InvalidArgument, "BODY_TOO_LARGE"},
		"gRPC: no such service": {status.Error(codes.NotFound, "unknown service"), codes.NotFound, "ROUTE_NOT_FOUND"},
	}

	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := rpc.Status(tc.err)
			assert.Equal(t, tc.code, s.Code())
			assert.Equal(t, tc.reason, rpc.Reason(s))
		})
	}
}

// Many clients take 8 KiB of trailers, in which texts are percent-encoded once
// and in base64 once.
func TestStatusIsSmallWhateverWasSent(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("é", 400<<10)
	e := errs.New(errs.NotFound, errs.ReasonRuleNotFound, "There is no rule %s.", wide)
	e.Fields = make([]errs.FieldViolation, 340_000)
	for i := range e.Fields {
		e.Fields[i] = errs.FieldViolation{Field: fmt.Sprintf("paths.include[%d]", i), Description: wide[:i%1000]}
	}

	s := rpc.Status(e)
	assert.Less(t, proto.Size(s.Proto()), 5<<10)
	assert.True(t, strings.HasSuffix(s.Message(), "é…"), "cut at a rune")
	assert.LessOrEqual(t, len(s.Message()), 1<<10+len("…"))

	e.Fields = []errs.FieldViolation{{Field: wide, Description: wide}}
	assert.Len(t, fieldsOf(rpc.Status(e)), 1)
}

func TestEveryReasonIsDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/api.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(doc), "\n## Errors\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n## ")
	for _, reason := range reasons(t) {
		assert.Contains(t, table, "`"+reason+"`")
	}
}
