package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
)

// maxFixPasses bounds how often what was fixed is scanned again: fixes of the same line, and
// lines that are removed from the same file, go one after the other.
const maxFixPasses = 20

// scanned is what came of a scan.
type scanned struct {
	report report.Report
	unread int    // files that could not be read
	root   string // the folder of the files
	rules  string // the rules file that was given, which is never changed; "" for none
	began  time.Time
}

var errChanged = errors.New("it was changed while it was scanned; run the command again")

// fixed makes the fixes of what a scan found, and scans again, until there is nothing more to
// fix.
func (s scanned) fixed(
	ctx context.Context, st Streams, out *outputs, look func(context.Context, Streams, *outputs) (scanned, error),
) (scanned, error) {
	all, isDone := 0, false
	files := map[string]error{}
	defer func() { told(st, files, all, isDone) }()
	for range maxFixPasses {
		made, err := s.fix(files)
		all += made
		isDone = made == 0
		if err != nil || isDone {
			return s, err
		}
		quiet := Streams{Out: st.Out, Err: io.Discard, Env: st.Env} // all was told
		again, err := look(ctx, quiet, out)
		if err != nil {
			return s, err
		}
		s = again
	}

	return s, nil
}

// told says what became of fixes in files.
func told(st Streams, files map[string]error, all int, isDone bool) {
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
	if !isDone {
		st.note("there may be more to fix; run the command again")
	}
}

// fix makes the fixes of the findings, and adds the files to those that were tried. It leaves
// those alone that could not be changed before.
func (s scanned) fix(tried map[string]error) (made int, err error) {
	edits := map[string][]rule.Edit{}
	for _, f := range s.report.Review.Findings {
		if f.Fix != nil && tried[f.File] == nil && !s.isRules(f.File) {
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

// isRules says whether a file has the rules that are applied: its patterns match what they
// are for.
func (s scanned) isRules(file string) bool {
	return file == rule.FilePath || s.rules != "" && resolved(filepath.Join(s.root, file)) == resolved(s.rules)
}

// fixFile makes edits in a file that nobody has changed since a scan began, one of those that
// remove lines at most: together they may take all lines of a block, though none alone does.
// The file is there as before or as after, whatever happens.
func fixFile(root *os.Root, file string, edits []rule.Edit, began time.Time) (made int, err error) {
	info, err := root.Lstat(file)
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("it is no regular file any more")
	case info.ModTime().After(began):
		return 0, errChanged
	}
	text, err := root.ReadFile(file)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(edits, func(a, b rule.Edit) int { return cmp.Compare(a.StartLine, b.StartLine) })
	lines := match.SplitLines(text)
	if edits[len(edits)-1].EndLine > lines.Count() {
		return 0, errors.New("it has fewer lines than it had")
	}
	hasRemoved := false
	text, made = rule.Apply(lines, slices.DeleteFunc(edits, func(e rule.Edit) bool {
		isSecond := e.Text == "" && hasRemoved
		hasRemoved = hasRemoved || e.Text == ""
		return isSecond
	}))

	const bits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	name := path.Join(path.Dir(file), fmt.Sprintf(".prwarden-fix-%016x", rand.Uint64()))
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Remove(name) }() // when something failed
	_, err = out.Write(text)
	err = cmp.Or(err, out.Chmod(info.Mode()&bits), out.Sync(), out.Close())
	if err != nil {
		return 0, err
	}
	now, err := root.Lstat(file)
	if err != nil || !os.SameFile(info, now) || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return 0, errChanged
	}
	if err := root.Rename(name, file); err != nil {
		return 0, err
	}

	return made, nil
}
