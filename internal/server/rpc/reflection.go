package rpc

import (
	"strings"
	"time"

	"google.golang.org/grpc"

	"github.com/prwarden/prwarden/internal/auth"
	"github.com/prwarden/prwarden/internal/errs"
)

// A stream of reflection is counted once and answers many questions, so it has
// bounds: a client asks for some tens of files and leaves.
const (
	// maxReflectionQuestions is how many a stream answers.
	maxReflectionQuestions = 100
	// maxReflectionTime is how long a stream takes questions.
	maxReflectionTime = 30 * time.Second
	// maxReflections is how many streams a key has at once.
	maxReflections = 4
)

// reflections is the link in which streams of reflection get their bounds.
type reflections struct{ open *auth.Quota[string] } // by key

func newReflections() reflections { return reflections{auth.NewQuota[string](maxReflections)} }

// isReflection reports whether a method is one of server reflection, of any
// version.
func isReflection(method string) bool { return strings.HasPrefix(method, "/grpc.reflection.") }

func (r reflections) pass(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !isReflection(info.FullMethod) {
		return handler(srv, ss)
	}
	key := callOf(ss.Context()).caller.KeyID
	if !r.open.Take(key) {
		return errs.New(errs.Unavailable, errs.ReasonUnavailable,
			"This API key has %d open streams of server reflection, which is the most that it may have.", maxReflections)
	}
	defer r.open.GiveBack(key)
	return handler(srv, &reflectionStream{ServerStream: ss, until: time.Now().Add(maxReflectionTime)})
}

// reflectionStream takes some questions, for some time.
type reflectionStream struct {
	grpc.ServerStream
	until time.Time
	asked int
}

// RecvMsg implements grpc.ServerStream. The call has to end after an error:
// what was asked for may still come.
func (s *reflectionStream) RecvMsg(m any) error {
	if s.asked++; s.asked > maxReflectionQuestions {
		return errs.New(errs.ResourceExhausted, errs.ReasonRateLimited, "This stream asked %d questions, which is the most that one may; open another.", maxReflectionQuestions)
	}
	received := make(chan error, 1)
	go func() { received <- s.ServerStream.RecvMsg(m) }()
	timer := time.NewTimer(time.Until(s.until))
	defer timer.Stop()
	select {
	case err := <-received:
		return err
	case <-timer.C:
		return errs.New(errs.DeadlineExceeded, errs.ReasonDeadlineExceeded, "The stream was open for %s, which is the longest that one may be; open another.", maxReflectionTime)
	}
}
