package config

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong in the configuration.
type Problem struct {
	Key     string // the setting, such as `http_addr` or `organizations[0].host.kind`; empty for the file as a whole
	Origin  string // where the value came from, such as `--http-addr`, `PRWARDEN_HTTP_ADDR` or `prwarden.yaml:3`
	Message string // what was wrong and what is allowed
}

// String says all of it in a line.
func (p Problem) String() string {
	switch {
	case p.Key == "":
		return join(p.Origin, p.Message)
	case p.Origin == "":
		return join(p.Key, p.Message)
	case strings.Contains(p.Origin, ":"): // a place in a file: what editors can jump to comes first
		return join(p.Origin, join(p.Key, p.Message))
	}
	return join(p.Key+" (from "+p.Origin+")", p.Message)
}

func join(head, tail string) string {
	if head == "" {
		return tail
	}
	return head + ": " + tail
}

// Problems is an error that lists every problem, in the order of the settings.
type Problems []Problem

// Error has a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func (ps *Problems) add(key, format string, args ...any) {
	*ps = append(*ps, Problem{Key: key, Message: fmt.Sprintf(format, args...)})
}

func (ps Problems) orNil() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// rootKey is the setting that a key is part of: `organizations[0].name` is of
// `organizations`.
func rootKey(key string) string {
	if i := strings.IndexAny(key, ".["); i >= 0 {
		return key[:i]
	}
	return key
}
