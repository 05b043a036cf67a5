package rpc

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/server/overload"
)

// Admission decides which requests are worked on. The gRPC chain and the HTTP
// middleware ask the same one, once for each request.
type Admission struct {
	Guard    *overload.Guard
	Admitter *auth.Admitter
}

// Admit waits until the request may be worked on, finds out whose it is, and
// counts it. The decision about its rate limit is there also beside an error,
// because every response shows it. A request that is refused because there are
// too many is not counted, unless they are of its organization.
func (a Admission) Admit(ctx context.Context, c auth.Credentials) (auth.Caller, auth.Decision, error) {
	if err := hold(ctx); err != nil {
		return auth.Caller{}, a.Admitter.Peek(c), err
	}

	caller, decision, err := a.Admitter.Admit(ctx, c)
	a.note(ctx, caller, c)
	if err == nil {
		err = overload.FromContext(ctx).Identify(ctx, caller.Organization)
	}
	return caller, decision, err
}

// AdmitPerson is Admit for a person, whom find finds by the session. A session that is
// not good counts against the address, as a key does that is refused. A page is one
// request, whatever it calls.
func (a Admission) AdmitPerson(
	ctx context.Context, c auth.Credentials, find func() (auth.Caller, error),
) (auth.Caller, error) {
	if err := hold(ctx); err != nil {
		return auth.Caller{}, err
	}

	caller, err := find()
	if err != nil && errs.KindOf(err) == errs.Unauthenticated {
		err = cmp.Or(a.Admitter.AdmitStranger(ctx, c), err)
	}
	if err != nil {
		return auth.Caller{}, err
	}

	a.note(ctx, caller, c)
	if _, err := a.Admitter.AdmitPerson(ctx, caller); err != nil {
		return caller, err
	}
	return caller, overload.FromContext(ctx).Identify(ctx, caller.Organization)
}

// hold waits until a request may be worked on.
func hold(ctx context.Context) error {
	request := overload.FromContext(ctx)
	if err := request.Hold(ctx, overload.LimitOpen, 1); err != nil {
		return err
	}
	request.Release(overload.LimitReceiving)
	return request.Hold(ctx, overload.LimitWork, 1)
}

// note keeps who makes a request, for its log line and what it changes.
func (a Admission) note(ctx context.Context, caller auth.Caller, c auth.Credentials) {
	call := callOf(ctx)
	call.Caller, call.Actor = caller, caller.Actor()
	if call.Actor != (audit.Actor{}) {
		call.Actor.Address, call.Actor.RequestID = a.Admitter.Address(c), call.RequestID
	}
}

// Admitted returns the context of an admitted request's handler.
func Admitted(ctx context.Context, caller auth.Caller) context.Context {
	return audit.NewContext(auth.NewContext(ctx, caller), callOf(ctx).Actor)
}

// RateMetadata is a decision as response metadata, the same in gRPC and, as
// headers, in REST. The reset is rounded up: at that second it is over.
func RateMetadata(d auth.Decision) metadata.MD {
	reset := d.Reset.Add(time.Second - time.Nanosecond).Unix()
	return metadata.Pairs(
		RateLimitKey, strconv.Itoa(d.Limit),
		RateRemainingKey, strconv.Itoa(d.Remaining),
		RateResetKey, strconv.FormatInt(reset, 10),
	)
}

// Authorize returns PermissionDenied (SCOPE_MISSING, SIGN_IN_AGAIN) unless the
// caller may call the method, given as `/package.Service/Method`. A link of the
// chain asks for each call, and the gateway before it reads a body.
func Authorize(caller auth.Caller, method string) error {
	if scope := scopeOf(method); scope != "" {
		if err := caller.Require(scope); err != nil {
			return err
		}
	}
	if caller.UserID != "" && !caller.Fresh && needsFresh(method) {
		return errs.New(errs.PermissionDenied, errs.ReasonSignInAgain,
			"This needs a password that was given in the last 10 minutes; give it again.")
	}
	return nil
}

// needsFresh says which calls a person makes only with a password that was just
// given: those that make access for others or for later, and those that take it
// from others.
func needsFresh(method string) bool {
	switch method {
	case prwardenv1.KeyService_CreateKey_FullMethodName,
		prwardenv1.MemberService_UpdateMember_FullMethodName,
		prwardenv1.MemberService_RemoveMember_FullMethodName,
		prwardenv1.MemberService_CreateInvitation_FullMethodName,
		prwardenv1.MemberService_CreatePasswordLink_FullMethodName:
		return true
	}
	return false
}

// authorizeUnary is the link that asks whether the caller may make the call. Health
// has no caller.
func authorizeUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := Authorize(auth.FromContext(ctx), info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

// authorizeStream is authorizeUnary for streams.
func authorizeStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := Authorize(auth.FromContext(ss.Context()), info.FullMethod); err != nil {
		return err
	}
	return handler(srv, ss)
}

// scopeOf returns the scope that a method needs. Any other service, such as
// reflection, needs a key and no scope, so that it says nothing to strangers.
func scopeOf(method string) auth.Scope {
	switch method {
	case prwardenv1.ReviewService_GetDiff_FullMethodName:
		return auth.SourceRead
	case prwardenv1.MemberService_ListMemberNames_FullMethodName:
		return auth.ReviewsRead
	case prwardenv1.MemberService_GetSingleSignOn_FullMethodName:
		return auth.OrganizationAdmin
	case prwardenv1.RuleService_TryRules_FullMethodName:
		return auth.RulesWrite // hits say also what a masked secret is like
	}

	service, name, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	verbs := []string{"Get", "List", "Count", "Search", "Watch", "Test", "Try", "Export"}
	reads := slices.ContainsFunc(verbs, func(verb string) bool { return strings.HasPrefix(name, verb) })
	scopes := scopesOf(service)
	if reads {
		return scopes.read
	}

	return scopes.write
}

// scopes are those that a service's methods need.
type scopes struct{ read, write auth.Scope }

func scopesOf(service string) scopes {
	switch strings.TrimPrefix(service, "prwarden.v1.") {
	case "ReviewService", "StatsService":
		return scopes{auth.ReviewsRead, auth.ReviewsWrite}
	case "RuleService":
		return scopes{auth.RulesRead, auth.RulesWrite}
	case "PolicyService":
		return scopes{auth.PolicyRead, auth.PolicyWrite}
	case "TriageService":
		return scopes{auth.ReviewsRead, auth.FindingsTriage}
	case "KeyService":
		return scopes{auth.KeysAdmin, auth.KeysAdmin}
	case "ConnectionService", "PullRequestService":
		return scopes{auth.HostsRead, auth.HostsWrite}
	case "WebhookService":
		return scopes{auth.WebhooksRead, auth.WebhooksWrite}
	case "MemberService":
		return scopes{auth.MembersAdmin, auth.MembersAdmin}
	case "AuditService":
		return scopes{auth.AuditRead, auth.AuditRead}
	}

	return scopes{}
}

// credentialsOf returns what the metadata of a network call says of the caller.
func credentialsOf(ctx context.Context) auth.Credentials {
	md, _ := metadata.FromIncomingContext(ctx)
	c := auth.Credentials{Authorization: md.Get("authorization"), ForwardedFor: md.Get("x-forwarded-for")}
	if p, ok := peer.FromContext(ctx); ok {
		c.PeerAddr = p.Addr.String()
	}
	return c
}

// open is what gRPC asks before it reads the message of a call, so that
// strangers can't make it hold more messages than there is memory for.
func (a Admission) open(ctx context.Context, info *tap.Info) (context.Context, error) {
	limit := overload.LimitReceiving
	switch {
	case info.FullMethodName == healthpb.Health_Watch_FullMethodName:
		limit = overload.LimitHealthWatches
	case isHealth(info.FullMethodName):
		limit = overload.LimitHealth
	}

	request, err := a.Guard.Open(ctx, limit, credentialsOf(ctx))
	if err != nil {
		return nil, Status(err).Err()
	}

	// A call that has no message ends here. What a handler still works on when
	// its caller has left is given back by the handler's end.
	ctx, cancel := context.WithCancel(ctx)
	late := time.AfterFunc(receiveTimeout, cancel)
	context.AfterFunc(ctx, func() { late.Stop(); request.Release(limit) })
	return context.WithValue(overload.NewContext(ctx, request), lateKey{}, late), nil
}

// lateKey is that of the timer that ends a call whose message, or messages in all,
// do not come.
type lateKey struct{}

// received says that the first message of a call has come.
func received(ctx context.Context) {
	if late, ok := ctx.Value(lateKey{}).(*time.Timer); ok {
		late.Stop()
	}
}

// receiving is a stream whose messages have their time.
type receiving struct {
	grpc.ServerStream

	parts bool // the caller sends one document in parts, which have the time together
}

// RecvMsg implements grpc.ServerStream.
func (s receiving) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err != nil || !s.parts {
		received(s.Context())
	}
	return err
}

// admit is the link in which calls from the network are admitted.
func (a Admission) admit(ctx context.Context) (context.Context, error) {
	admitted := false
	defer func() { // also in a panic
		if !admitted {
			overload.FromContext(ctx).Close()
		}
	}()

	caller, decision, err := a.Admit(ctx, credentialsOf(ctx))
	// It fails only when the header was sent already, which nobody did yet.
	_ = grpc.SetHeader(ctx, RateMetadata(decision))
	admitted = err == nil
	return Admitted(ctx, caller), err
}

// boundedUnary is the link that ends the request of a call, and counts a large
// answer until it is written.
func boundedUnary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	received(ctx)
	request := overload.FromContext(ctx)
	defer request.Close()
	resp, err := handler(ctx, req)
	m, ok := resp.(proto.Message)
	if err != nil || !ok || proto.Size(m) <= overload.Large {
		return resp, err
	}

	request.Release(overload.LimitWork)
	release, err := request.Acquire(ctx, overload.LimitAnswers, int64(proto.Size(m)))
	if err != nil {
		return nil, err
	}
	return counted{m, release}, nil
}

// boundedStream is the link that ends the request of a stream. Streams wait for
// their client or for a review, so they are not among the requests that are
// worked on.
func boundedStream(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	request := overload.FromContext(ss.Context())
	defer request.Close()
	request.Release(overload.LimitWork)
	return handler(srv, receiving{ss, info.IsClientStream && !info.IsServerStream})
}

// counted is an answer whose bytes are counted until gRPC has written them.
type counted struct {
	message proto.Message
	release func()
}

// codec is gRPC's own, except that it says when a counted answer was written:
// gRPC takes one of any size at once, and gives its memory back when the caller
// has read it.
type codec struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	answer, ok := v.(counted)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	data, err := proto.Marshal(answer.message)
	if err != nil {
		answer.release()
		return nil, err
	}

	// What a connection that breaks has not written is given back to nobody.
	runtime.AddCleanup(&data[0], func(release func()) { release() }, answer.release)
	return mem.BufferSlice{mem.NewBuffer(&data, countedMemory(answer.release))}, nil
}

// countedMemory is the pool that the memory of one answer is given back to.
type countedMemory func()

// Get implements mem.BufferPool.
func (countedMemory) Get(length int) *[]byte { return mem.DefaultBufferPool().Get(length) }

// Put implements mem.BufferPool.
func (release countedMemory) Put(*[]byte) { release() }
