package match_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/match"
)

// minimiseTime bounds the time that is spent on making a failure small.
const minimiseTime = time.Minute

// failure makes a scene that fails smaller while it fails, and returns it as a
// case for TestRegressions with what differs. differs says what, or nothing.
func (s scene) failure(ctx context.Context, differs func(scene, context.Context) string) string {
	end := time.Now().Add(minimiseTime)
	fails := func(t scene) bool {
		for _, r := range t.rules {
			if match.CheckPattern(r.Pattern) != nil {
				return false
			}
		}
		return time.Now().Before(end) && differs(t, ctx) != ""
	}
	original := differs(s, ctx)
	if original == "" {
		return "differs only sometimes:\n" + s.source()
	}
	for changed := true; changed; {
		changed = s.shrink(fails)
	}
	return fmt.Sprintf("%s\nmade small: %s\n%s", original, differs(s, ctx), s.source())
}

// shrink makes one round of changes that keep the failure, and says whether
// there was one.
func (s *scene) shrink(fails func(scene) bool) (changed bool) {
	try := func(t scene) bool {
		if !fails(t) {
			return false
		}
		*s, changed = t, true
		return true
	}
	for i := len(s.files) - 1; i >= 0 && len(s.files) > 1; i-- {
		t := *s
		t.files = slices.Delete(slices.Clone(t.files), i, i+1)
		try(t)
	}
	for i := len(s.rules) - 1; i >= 0 && len(s.rules) > 1; i-- {
		t := *s
		t.rules = slices.Delete(slices.Clone(t.rules), i, i+1)
		if t.off != nil {
			t.off = slices.Delete(slices.Clone(t.off), i, i+1)
		}
		try(t)
	}
	if s.off != nil || s.parallel || s.guarded || s.limit != 1<<20 {
		try(scene{rules: s.rules, files: s.files, limit: 1 << 20})
	}
	for i, f := range s.files {
		with := func(f file) bool {
			t := *s
			t.files = slices.Clone(t.files)
			t.files[i] = f
			return try(t)
		}
		if !slices.Equal(f.added, all) {
			with(file{f.path, f.content, all})
		}
		cut(func() string { return string(s.files[i].content) }, func(c string) bool {
			return with(file{f.path, []byte(c), s.files[i].added})
		})
	}
	for i, r := range s.rules {
		with := func(r match.Rule) bool {
			t := *s
			t.rules = slices.Clone(t.rules)
			t.rules[i] = r
			return try(t)
		}
		if r.Include != nil || r.Exclude != nil {
			with(match.Rule{Pattern: r.Pattern, Multiline: r.Multiline})
		}
		cut(func() string { return s.rules[i].Pattern }, func(p string) bool {
			return with(match.Rule{Pattern: p, Multiline: r.Multiline, Include: s.rules[i].Include, Exclude: s.rules[i].Exclude})
		})
	}
	return changed
}

// cut tries a text without each of its parts, from halves down to bytes. use
// takes a shorter text and says whether it stays.
func cut(get func() string, use func(string) bool) {
	for size := len(get()) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(get()); {
			if text := get(); !use(text[:at] + text[at+size:]) {
				at += (size + 1) / 2
			}
		}
	}
}

// source is a scene as a case of TestRegressions.
func (s scene) source() string {
	var b strings.Builder
	b.WriteString("\t\t{\n\t\t\trules: []match.Rule{\n")
	for _, r := range s.rules {
		fmt.Fprintf(&b, "\t\t\t\t{Pattern: %q", r.Pattern)
		if r.Multiline {
			b.WriteString(", Multiline: true")
		}
		if r.Include != nil {
			fmt.Fprintf(&b, ", Include: %#v", r.Include)
		}
		if r.Exclude != nil {
			fmt.Fprintf(&b, ", Exclude: %#v", r.Exclude)
		}
		b.WriteString("},\n")
	}
	fmt.Fprintf(
		&b, "\t\t\t},\n\t\t\toff: %#v, limit: %d, parallel: %v, guarded: %v,\n\t\t\tfiles: []file{\n", s.off, s.limit,
		s.parallel, s.guarded,
	)
	for _, f := range s.files {
		fmt.Fprintf(&b, "\t\t\t\t{%q, []byte(%q), %#v},\n", f.path, f.content, f.added)
	}
	b.WriteString("\t\t\t},\n\t\t},\n")
	return b.String()
}
