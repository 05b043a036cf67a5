package config

import (
	"log/slog"
	"time"
)

// Process is how a process behaves: what it logs and how it ends.
type Process struct {
	LogLevel      string        `koanf:"log_level"`      // debug, info, warn or error
	ShutdownGrace time.Duration `koanf:"shutdown_grace"` // how long running requests may take at the end
}

const maxShutdownGrace = 10 * time.Minute

func defaultProcess() Process {
	return Process{LogLevel: "info", ShutdownGrace: 20 * time.Second}
}

func (p Process) settings() []Setting {
	return []Setting{
		{
			Key: "log_level", Commands: Serve | Scanner, Value: "LEVEL", Default: p.LogLevel,
			Usage: "The least that is logged: debug, info, warn or error.",
		}, {
			Key: "shutdown_grace", Commands: Serve | Scanner, Value: "DURATION", Default: p.ShutdownGrace.String(),
			Usage: "How long running requests may take after SIGTERM.",
		},
	}
}

func (p Process) validate(ps *Problems) {
	switch p.LogLevel {
	case "debug", "info", "warn", "error":
	default:
		ps.add("log_level", "unknown level %q; it must be debug, info, warn or error", p.LogLevel)
	}
	if p.ShutdownGrace < 0 || p.ShutdownGrace > maxShutdownGrace {
		ps.add("shutdown_grace", "%v is not allowed; it must be from 0s to %v", p.ShutdownGrace, maxShutdownGrace)
	}
}

// Level is the level of a valid configuration.
func (p Process) Level() slog.Level {
	var level slog.Level
	if err := level.UnmarshalText([]byte(p.LogLevel)); err != nil {
		return slog.LevelInfo
	}
	return level
}
