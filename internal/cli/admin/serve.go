package admin

import (
	"context"
	"log/slog"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/cli"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
)

// Serve runs a server until ctx ends.
func Serve(ctx context.Context, st cli.Streams, c config.Config) error {
	log := newLog(st, c)
	return logged(st, log, app.Serve(ctx, c, st.Lookup, log))
}

// Scanner runs a scanner until ctx ends.
func Scanner(ctx context.Context, st cli.Streams, c config.Config) error {
	log := newLog(st, c)
	return logged(st, log, app.Scan(ctx, c, st.Lookup, log))
}

// logged writes why a process ends into its log, so that every line there is
// JSON. A person at a terminal is told in plain words besides.
func logged(st cli.Streams, log *slog.Logger, err error) error {
	if err == nil {
		return nil
	}
	log.Error("ended", "error", err)
	if terminal.Is(st.Err) {
		return err
	}
	return cli.ErrSilent
}

// newLog writes JSON lines to st.Err.
func newLog(st cli.Streams, c config.Config) *slog.Logger {
	return slog.New(slog.NewJSONHandler(st.Err, &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: withUnit}))
}

// withUnit gives the name of a duration its unit, so that whoever reads the log
// need not guess what a number counts.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}
