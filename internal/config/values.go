package config

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
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
		*p, err = ParseSize(text)
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

// String writes a in days when it is whole days, and else in hours.
func (a Age) String() string {
	if a%day == 0 {
		return strconv.FormatInt(int64(a/day), 10) + "d"
	}
	return strconv.FormatInt(int64(a/Age(time.Hour)), 10) + "h"
}

// ParseAge reads a whole number of hours or days, such as 36h or 90d, and 0.
func ParseAge(text string) (Age, error) {
	if text == "0" {
		return 0, nil
	}
	for suffix, unit := range map[string]Age{"h": Age(time.Hour), "d": day} {
		digits, ok := strings.CutSuffix(text, suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 32)
		if err != nil || Age(n) > maxKeepReviews/unit {
			break
		}
		return Age(n) * unit, nil
	}
	return 0, fmt.Errorf(
		"%q is not an age; write a whole number of days or hours, such as 90d or 36h, at most %v", text, maxKeepReviews,
	)
}

// Size is a number of bytes, written as a whole number with a unit: B, KiB,
// MiB, GiB or TiB.
type Size int64

type sizeUnit struct {
	suffix string
	bytes  Size
}

// sizeUnits are the units, the largest first.
func sizeUnits() []sizeUnit {
	return []sizeUnit{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}
}

// String writes s in the largest unit that divides it.
func (s Size) String() string {
	for _, u := range sizeUnits() {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.suffix
		}
	}
	return "0B"
}

// ParseSize reads what String writes.
func ParseSize(text string) (Size, error) {
	for _, u := range sizeUnits() {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n < 0 || Size(n) > math.MaxInt64/u.bytes {
			break
		}
		return Size(n) * u.bytes, nil
	}
	return 0, fmt.Errorf("%q is not a size; write a whole number and a unit (KiB, MiB, GiB or TiB), such as 500MiB", text)
}
