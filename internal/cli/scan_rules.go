package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// loadRules puts the rules together and says which are not the usual ones.
func (in ScanInput) loadRules(ctx context.Context, st Streams, from folder.Sources) (*folder.Loaded, error) {
	from.File, from.NoDefaults = in.RulesFile, in.NoDefaults
	loaded, err := folder.Load(ctx, from)
	var mistakes *folder.RulesError
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case errors.Is(err, folder.ErrNoRules):
		return nil, errNoRules()
	case errors.As(err, &mistakes):
		var text strings.Builder
		fmt.Fprintf(&text, "%s is not valid:", terminal.Safe(mistakes.Path))
		for _, m := range mistakes.Err.Mistakes {
			fmt.Fprintf(&text, "\n  line %d: %s", m.Line, terminal.Safe(m.Message))
		}
		if n := len(mistakes.Err.Mistakes); mistakes.Err.Cut {
			fmt.Fprintf(&text, "\n  and perhaps more; the first %d that were found are shown", n)
		}
		return nil, Usagef("%s", text.String())
	case err != nil:
		return nil, &UsageError{Err: err}
	}

	if in.RulesFile == "" && loaded.Path != "" {
		st.note("applying %s", terminal.Safe(loaded.Path))
	}
	if loaded.Irregular {
		st.note("not applying %s: it is no regular file, or behind a symbolic link", rule.FilePath)
	}

	for _, u := range loaded.Unknown {
		what := "disabled"
		if u.Override {
			what = "overridden"
		}
		st.note("%s:%d: %s is not a rule of the default ruleset, so it can't be %s",
			terminal.Safe(loaded.Path), u.Line, u.ID, what)
	}

	if in.RulesFile != "" {
		noteCostly(st, loaded)
	}
	return loaded, nil
}

func errNoRules() error {
	return Usagef("there are no rules to apply: give --rules, or leave out --no-default-rules")
}

// noteUnapplied says that what is scanned is a part of a repository whose rules
// file is not applied. Its globs are for paths from the root of the repository
// on, while paths of a scan of every file begin at path: applied unasked, some
// rules would look at nothing, and nobody would know.
func noteUnapplied(st Streams, path string) {
	if file := rulesFileAbove(path); file != "" {
		from := terminal.Safe(path)
		if filepath.Clean(path) == "." {
			from = "this folder"
		}
		st.note("not applying %s, the rules file of the whole repository, "+
			"whose globs do not fit paths from %s on; --rules applies it anyway", terminal.Safe(file), from)
	}
}

// rulesFileAbove returns the rules file of the git repository that the folder or
// file at path is in; "" when there is none, or when the folder is the root or
// has a rules file itself.
func rulesFileAbove(path string) string {
	dir, err := filepath.EvalSymlinks(path) // as the scan does
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil { // then the scan says so
		return ""
	}

	own := func(dir string) string {
		file := filepath.Join(dir, filepath.FromSlash(rule.FilePath))
		if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
			return ""
		}
		return file
	}

	if own(dir) != "" {
		return ""
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return own(dir)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// maxCostly is how many costly rules are named.
const maxCostly = 10

// noteCostly names the rules of the rules file that make a scan slow, the
// dearest first.
func noteCostly(st Streams, loaded *folder.Loaded) {
	type priced struct {
		id   string
		cost match.Cost
	}
	var list []priced
	for _, r := range loaded.File.Rules {
		c, err := match.CostOf(r.Pattern, r.Multiline)
		if err == nil && c.Time() > rule.Costly { // an error would have been a mistake
			list = append(list, priced{r.FullID(), c})
		}
	}

	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b priced) int {
		return cmp.Or(cmp.Compare(b.cost.Time(), a.cost.Time()), cmp.Compare(a.id, b.id))
	})

	each := "each takes"
	if len(list) == 1 {
		each = "it takes"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s with little to be looked for by; %s more than %v for a MiB:",
		terminal.Count(len(list), "costly rule"), terminal.Safe(loaded.Path), each, rule.Costly)
	for _, p := range list[:min(len(list), maxCostly)] {
		fmt.Fprintf(&text, "\n  %s: %v", p.id, p.cost.Time().Round(time.Microsecond))
		if p.cost.Weak {
			text.WriteString(", weak: tried everywhere")
		}
	}

	if n := len(list) - maxCostly; n > 0 {
		fmt.Fprintf(&text, "\n  and %d more", n)
	}
	st.note("%s", text.String())
}
