package folder

import (
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// Rules is what a scan looks for, compiled. It is immutable.
type Rules struct {
	scanner *scan.Scanner
	request scan.Request
	exclude match.Globs
	pruned  match.Globs // those of exclude that match all that is in a directory they match
}

// Compile prepares the rules that were loaded, or those of them that a selection
// leaves.
func (l *Loaded) Compile(selection scan.Selection) (*Rules, error) {
	scanner := scan.NewScanner(nil, scan.Options{}) // it opens nothing
	set, err := scanner.AddRules(rule.Digest(l.Defaults), l.Defaults)
	if err != nil {
		return nil, err
	}
	r := &Rules{
		scanner: scanner,
		request: scan.Request{Selection: selection, Rules: set, File: l.File, OtherRules: true}, // an organization's rules are not known
		exclude: match.NewGlobs(l.File.Exclude),
	}
	r.pruned = match.NewGlobs(slices.DeleteFunc(slices.Clone(l.File.Exclude), func(glob string) bool {
		return glob != "**" && !strings.HasSuffix(glob, "/**")
	}))
	_, err = r.single(Options{}) // so that what can't be compiled is known now
	return r, err
}

// single is for the files of one worker.
func (r *Rules) single(o Options) (*scan.Single, error) {
	request := r.request
	request.Budget, request.PlacesOnly = o.Budget, o.PlacesOnly
	if request.MaxFindings = MaxFindings; o.PlacesOnly {
		request.MaxFindings = MaxPlaces
	}
	return r.scanner.NewSingle(request)
}

// prunes says whether all in a directory is excluded, so that it need not be
// read: what `x/**` matches as a directory it matches with all that is in it.
func (r *Rules) prunes(directory string) bool { return r.pruned.Match(directory) }
