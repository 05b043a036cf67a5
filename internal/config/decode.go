package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// decodeHook turns what the file, the environment or a flag holds into a
// field's value. Text means the same from every source. Its errors say what
// was wrong and what is allowed.
func decodeHook(from, to reflect.Value) (any, error) {
	in := from.Interface()
	text, isText := in.(string)
	text = strings.TrimSpace(text)
	switch to.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		if !isText || err != nil {
			return nil, fmt.Errorf("%q is not a duration; write a number and a unit, such as 500ms, 20s or 5m", fmt.Sprint(in))
		}
		return d, nil
	case Age:
		return ParseAge(fmt.Sprint(in))
	case Size:
		return ParseSize(fmt.Sprint(in))
	case int:
		n, err := strconv.Atoi(fmt.Sprint(in))
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", fmt.Sprint(in))
		}
		return n, nil
	case bool:
		if b, ok := in.(bool); ok {
			return b, nil
		}
		switch text {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", fmt.Sprint(in))
	case netip.Prefix:
		return parsePrefix(fmt.Sprint(in))
	case string:
		return decodeText(in)
	case []string, []netip.Prefix:
		if isText {
			return splitList(text), nil
		}
	}
	return in, nil
}

// decodeText lets unquoted YAML scalars be text: `name: 42` is "42".
func decodeText(in any) (any, error) {
	switch in.(type) {
	case map[string]any, []any, nil:
		return nil, fmt.Errorf("it must be a single value")
	}
	return fmt.Sprint(in), nil
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
