package web

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// day is a date as people write it; "never" for none.
func day(t time.Time) string {
	if t.IsZero() {
		return "never"
	}

	return t.UTC().Format("2 Jan 2006")
}

// dayOf is day of a time in a message.
func dayOf(t *timestamppb.Timestamp) string {
	if t == nil {
		return "never"
	}

	return day(t.AsTime())
}

// ago says how long ago something was, or when it was.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 48*time.Hour:
		return "yesterday"
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}

	return day(t)
}

// agoOf is ago of a time in a message; "never" for none.
func agoOf(now time.Time, t *timestamppb.Timestamp) string {
	if t == nil {
		return "never"
	}

	return ago(now, t.AsTime())
}

// plural says a number with its word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}

	return fmt.Sprintf("%d %s", n, many)
}

// shown is a text from outside with signs in place of the characters that nobody
// sees or that change how others are read, such as those that turn the direction.
func shown(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}

	return strings.Map(func(r rune) rune {
		switch {
		case !hidden(r):
			return r
		case r < 0x20:
			return 0x2400 + r // Unicode's pictures of control characters
		case r == 0x7f:
			return 0x2421
		}

		return '\ufffd'
	}, s)
}

// hidden tells control characters other than white space, and those that format.
func hidden(r rune) bool {
	return r != '\t' && r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// clockOf is a time of a message to the minute; "never" for none.
func clockOf(t *timestamppb.Timestamp) string {
	if t == nil {
		return "never"
	}

	return t.AsTime().UTC().Format("2 Jan 2006, 15:04 UTC")
}
