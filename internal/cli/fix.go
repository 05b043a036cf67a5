package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxFixPasses bounds how often what was fixed is scanned again: fixes of the same line are
// made one after the other, and one may make a place for another.
const maxFixPasses = 10

// scanned is what came of a scan.
type scanned struct {
	report report.Report
	unread int    // files that could not be read
	root   string // the folder of the files
	began  time.Time
}

// fixed makes the fixes of what a scan found, and scans again, until there is nothing more to
// fix.
func (s scanned) fixed(
	ctx context.Context, st Streams, out *outputs, look func(context.Context, Streams, *outputs) (scanned, error),
) (scanned, error) {
	all := 0
	files := map[string]error{}
	for range maxFixPasses {
		made, err := s.fix(files)
		all += made
		if err != nil {
			return s, err
		}
		if made == 0 {
			break
		}
		quiet := Streams{Out: st.Out, Err: io.Discard, Env: st.Env} // all was told
		if s, err = look(ctx, quiet, out); err != nil {
			return s, err
		}
	}
	changed := 0
	for _, file := range slices.Sorted(maps.Keys(files)) {
		err := files[file]
		if err == nil {
			changed++
			continue
		}
		st.note("%s: can't be fixed: %s", terminal.Safe(file), terminal.Safe(err.Error()))
	}
	switch all {
	case 0:
		st.note("nothing was fixed")
	case 1:
		st.note("made 1 fix")
	default:
		st.note("made %d fixes in %s", all, terminal.Count(changed, "file"))
	}

	return s, nil
}

// fix makes the fixes of the findings, and adds the files to those that were tried. It leaves
// those alone that could not be changed before.
func (s scanned) fix(tried map[string]error) (made int, err error) {
	edits := map[string][]rule.Edit{}
	for _, f := range s.report.Review.Findings {
		if f.Fix != nil && tried[f.File] == nil {
			edits[f.File] = append(edits[f.File], rule.Edit(*f.Fix))
		}
	}
	if len(edits) == 0 {
		return 0, nil
	}
	root, err := os.OpenRoot(s.root)
	if err != nil {
		return 0, fmt.Errorf("the files can't be fixed: %w", err)
	}
	defer root.Close()

	for file, list := range edits {
		n, err := fixFile(root, file, list, s.began)
		tried[file] = err
		made += n
	}

	return made, nil
}

// fixFile makes edits in a file that nobody has changed since a scan began. It is there as
// before or as after, whatever happens.
func fixFile(root *os.Root, file string, edits []rule.Edit, began time.Time) (made int, err error) {
	info, err := root.Lstat(file)
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("it is no regular file any more")
	case info.ModTime().After(began):
		return 0, fmt.Errorf("it was changed while it was scanned; run the command again")
	}
	text, err := root.ReadFile(file)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(edits, func(a, b rule.Edit) int { return cmp.Compare(a.StartLine, b.StartLine) })
	lines := match.SplitLines(text)
	if edits[len(edits)-1].EndLine > lines.Count() {
		return 0, fmt.Errorf("it has fewer lines than it had")
	}
	text, made = rule.Apply(lines, edits)

	name := path.Join(path.Dir(file), ".prwarden-fix-"+path.Base(file))
	_ = root.Remove(name)                    // of a process that was killed
	defer func() { _ = root.Remove(name) }() // when something failed
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return 0, err
	}
	_, err = out.Write(text)
	err = cmp.Or(err, out.Chmod(info.Mode().Perm()), out.Sync(), out.Close())
	if err != nil {
		return 0, err
	}

	if err := root.Rename(name, file); err != nil {
		return 0, err
	}

	return made, nil
}
