package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// How often the gRPC health service is told the state, and how long a look may
// take.
const (
	readinessInterval = 5 * time.Second
	readinessTimeout  = 2 * time.Second
	// readinessMemory is how long the result of a look is told to others who
	// ask. Anybody may ask, without a key and as often as he likes, and each
	// look asks the database.
	readinessMemory = 500 * time.Millisecond
)

var errStopping = errors.New("the server is stopping")

// readiness says whether the server can do its work: the database can be
// reached and has the right schema, and the server is not stopping.
type readiness struct {
	check  func(context.Context) error
	health *health.Server
	log    *slog.Logger

	turn   chan struct{} // holds one while somebody looks or reads what was found
	looked time.Time
	found  error

	stopOnce sync.Once
	stopping chan struct{}
	done     sync.WaitGroup
}

func newReadiness(check func(context.Context) error, log *slog.Logger) *readiness {
	return &readiness{
		check: check, health: health.NewServer(), log: log, turn: make(chan struct{}, 1), stopping: make(chan struct{}),
	}
}

// Check returns nil when the server is ready, and else why not.
func (r *readiness) Check(ctx context.Context) error {
	select {
	case <-r.stopping:
		return errStopping
	default:
	}
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if time.Since(r.looked) < readinessMemory {
		return r.found
	}
	// Others wait for the result, whoever leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readinessTimeout)
	defer cancel()
	r.found, r.looked = r.check(ctx), time.Now()
	return r.found
}

// start keeps the gRPC health service up to date, and logs why the server is
// not ready, which answers to probes don't say.
func (r *readiness) start() {
	r.done.Go(func() {
		tick := time.NewTicker(readinessInterval)
		defer tick.Stop()
		was := true
		for {
			state := healthpb.HealthCheckResponse_SERVING
			err := r.Check(context.Background())
			switch ready := err == nil; {
			case ready && !was:
				r.log.Info("ready again")
			case !ready && was && !errors.Is(err, errStopping):
				r.log.Error("not ready", "error", err)
			}
			if was = err == nil; !was {
				state = healthpb.HealthCheckResponse_NOT_SERVING
			}
			r.health.SetServingStatus("", state)
			select {
			case <-tick.C:
			case <-r.stopping:
				return
			}
		}
	})
}

// stop makes the server not ready, for good.
func (r *readiness) stop() {
	r.stopOnce.Do(func() {
		close(r.stopping)
		r.done.Wait()
		r.health.Shutdown()
	})
}
