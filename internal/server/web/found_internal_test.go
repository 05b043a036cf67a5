package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// goneTriage decides once; then the browser is gone.
type goneTriage struct {
	prwardenv1.TriageServiceClient
	gone   context.CancelFunc
	calls  int
	undone []string
}

func (g *goneTriage) SetTriage(
	ctx context.Context, _ *prwardenv1.SetTriageRequest, _ ...grpc.CallOption,
) (*prwardenv1.SetTriageResponse, error) {
	if g.calls++; g.calls > 1 {
		g.gone()
		return nil, ctx.Err()
	}

	return &prwardenv1.SetTriageResponse{ChangeId: new("chg_1"), Changed: 1}, nil
}

func (g *goneTriage) UndoTriage(
	ctx context.Context, r *prwardenv1.UndoTriageRequest, _ ...grpc.CallOption,
) (*prwardenv1.UndoTriageResponse, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		return nil, errors.New("it may take for ever")
	}
	g.undone = append(g.undone, r.GetChangeId())

	return &prwardenv1.UndoTriageResponse{}, ctx.Err()
}

// A decision about two repositories that is broken off holds in neither.
func TestBrokenOffDecision(t *testing.T) {
	t.Parallel()
	ctx, gone := context.WithCancel(t.Context())
	g := &goneTriage{gone: gone}
	h := &Handler{calls: clients{triage: g}}
	v := &visit{r: httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)}
	_, _, _, err := h.decideFound(v, &prwardenv1.SetTriageRequest{},
		decisionForm{Fingerprints: []string{"a-1-61", "a-1-62"}})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, []string{"chg_1"}, g.undone)
}
