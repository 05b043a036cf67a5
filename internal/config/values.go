package config

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// setField gives the field that p points to what a flag, a variable or the file
// holds; text means the same in each. Only lists have more than one value. The
// error says what was wrong and what is allowed.
func setField(p any, values []string) (err error) {
	text := strings.TrimSpace(strings.Join(values, ","))

	switch p := p.(type) {
	case *string:
		*p = text
	case *[]string:
		*p = splitList(text)
	case *[]netip.Prefix:
		for _, item := range splitList(text) {
			prefix, err := parsePrefix(item)
			if err != nil {
				return err
			}
			*p = append(*p, prefix)
		}
	case *int:
		if *p, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
	case *bool:
		*p = text == "true"
		if !*p && text != "false" {
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case *time.Duration:
		if *p, err = time.ParseDuration(text); err != nil {
			return fmt.Errorf("%q is not a duration; write a number and a unit, such as 500ms, 20s or 5m", text)
		}
	case *Age:
		*p, err = ParseAge(text)
	case *Size:
		*p, err = parseSize(text)
	case *slog.Level:
		if p.UnmarshalText([]byte(text)) != nil {
			return fmt.Errorf("unknown level %q; it must be debug, info, warn or error", text)
		}
	default:
		return fmt.Errorf("settings of type %T are not known", p)
	}

	return err
}

func splitList(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}

	return items
}

// parsePrefix reads a network, or an address as the network of only itself.
func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}

	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf(
			"%q is neither an address nor a network; write one such as 10.0.0.7 or 10.0.0.0/8", text,
		)
	}

	return p.Masked(), nil
}

// Age is a time that is counted in hours or days of 24 hours.
type Age time.Duration

const day = Age(24 * time.Hour)

// ParseAge reads a number of days, or a duration of Go.
func ParseAge(text string) (Age, error) {
	if digits, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(digits, 10, 16); err == nil { // as many days fit into an Age
			return Age(n) * day, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil {
		return Age(d), nil
	}
	return 0, fmt.Errorf("%q is not an age; write a whole number of days, or hours, such as 90d or 36h", text)
}

// Size is a number of bytes.
type Size int64

func parseSize(text string) (Size, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%q is not a size; write a number and a unit, such as 500MiB or 20GiB", text)
	}
	return Size(n), nil
}
