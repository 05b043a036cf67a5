package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// TestAuditActionsAreThoseOfTheAPI has words for everything that the filter of the API
// takes, and offers nothing else.
func TestAuditActionsAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	field := (&prwardenv1.ListEventsRequest{}).ProtoReflect().Descriptor().Fields().ByName("action")
	rules, ok := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
	require.True(t, ok)

	var offered []string
	for _, a := range auditActions {
		offered = append(offered, a.value)
		assert.NotEqual(t, a.value, auditWords(a.value))
	}
	assert.ElementsMatch(t, rules.GetString().GetIn(), offered)
	assert.Equal(t, "new.thing", auditWords("new.thing"))
}

func TestAuditFilter(t *testing.T) {
	t.Parallel()
	req, err := auditFilterOf(url.Values{"since": {"2026-11-01"}, "until": {"2026-11-20"}, "actor": {" user:usr_1 "}}).request()
	require.NoError(t, err)
	assert.Nil(t, req.Action) //nolint:protogetter // whether it was given
	assert.Equal(t, "user:usr_1", req.GetActor())
	assert.Equal(t, "2026-11-01T00:00:00Z", req.GetSince().AsTime().Format("2006-01-02T15:04:05Z07:00"))
	assert.Equal(t, "2026-11-21T00:00:00Z", req.GetUntil().AsTime().Format("2006-01-02T15:04:05Z07:00"), "the day counts")

	_, err = auditFilterOf(url.Values{"until": {"yesterday"}}).request()
	require.ErrorContains(t, err, `To: "yesterday" is not a day such as 2026-11-20.`)
}

func TestAuditPlace(t *testing.T) {
	t.Parallel()
	admin := &visit{org: "acme", caller: auth.Caller{Scopes: auth.Admin.Scopes()}}
	for _, tt := range []struct{ action, target, want string }{
		{"key.revoke", "key_1", "/o/acme/settings/keys#key_1"},
		{"connection.update", "con_1", "/o/acme/settings/connections/con_1"},
		{"connection.delete", "con_1", ""},
		{"webhook.create", "../x", "/o/acme/settings/webhooks/..%2Fx"},
		{"invitation.create", "inv_1", "/o/acme/settings/members"},
		{"organization.update", "acme", ""},
	} {
		e := &prwardenv1.AuditEvent{Action: tt.action, Target: tt.target}
		assert.Equal(t, tt.want, auditPlace(admin, e), tt.action)
		assert.Empty(t, auditPlace(&visit{org: "acme"}, e), "without the right")
	}
}

// auditPages answers pages of one event each, and fails where it is told to.
type auditPages struct {
	prwardenv1.AuditServiceClient
	pages, failAt int
}

func (a auditPages) ListEvents(
	_ context.Context, req *prwardenv1.ListEventsRequest, _ ...grpc.CallOption,
) (*prwardenv1.ListEventsResponse, error) {
	n, _ := strconv.Atoi(req.GetPageToken())
	if n++; n == a.failAt {
		return nil, errors.New("the database is away")
	}
	out := &prwardenv1.ListEventsResponse{Events: []*prwardenv1.AuditEvent{{Target: strconv.Itoa(n)}}}
	if n < a.pages {
		out.NextPageToken = strconv.Itoa(n)
	}

	return out, nil
}

// deadlines notes those of a connection.
type deadlines struct {
	*httptest.ResponseRecorder
	read, write []time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error  { d.read = append(d.read, t); return nil }
func (d *deadlines) SetWriteDeadline(t time.Time) error { d.write = append(d.write, t); return nil }

// The file of all events may take longer than a page; one that can't be written to its end
// is cut off, which browsers tell.
func TestAuditFileIsWhole(t *testing.T) {
	t.Parallel()
	export := func(a auditPages) (w *deadlines, cut any) {
		w = &deadlines{ResponseRecorder: httptest.NewRecorder()}
		h := &Handler{Config: Config{Log: slog.New(slog.DiscardHandler)}}
		h.calls.audit = a
		defer func() { cut = recover() }()
		assert.NoError(t, h.auditFile(&visit{w: w, r: httptest.NewRequest(http.MethodGet, "/", nil), org: "acme"}))

		return w, nil
	}

	w, cut := export(auditPages{pages: 3})
	assert.Nil(t, cut)
	assert.Equal(t, 3, strings.Count(w.Body.String(), "\n"))
	assert.Equal(t, []time.Time{{}}, w.read, "the request goes on")
	assert.Len(t, w.write, 3, "each part has its time")

	_, cut = export(auditPages{pages: 3, failAt: 2})
	assert.Equal(t, http.ErrAbortHandler, cut)
}
