package admin

import (
	"context"
	"log/slog"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/config"
)

// Serve runs a server until ctx ends.
func Serve(ctx context.Context, st cli.Streams, c config.Config) error {
	return app.Serve(ctx, c, app.Environment(st.Env), newLog(st, c))
}

// Scanner runs a scanner until ctx ends.
func Scanner(ctx context.Context, st cli.Streams, c config.Config) error {
	return app.Scan(ctx, c, app.Environment(st.Env), newLog(st, c))
}

// newLog writes JSON lines to st.Err.
func newLog(st cli.Streams, c config.Config) *slog.Logger {
	return slog.New(slog.NewJSONHandler(st.Err, &slog.HandlerOptions{Level: c.Level()}))
}
