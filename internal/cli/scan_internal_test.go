package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/scan"
	"github.com/prwarden/prwarden/internal/scan/folder"
)

// --verbose is offered only where it tells something new.
func TestNotesEnd(t *testing.T) {
	t.Parallel()
	const stopped = " in a file, as named above; they may have missed findings there.\n"
	for name, tt := range map[string]struct {
		scanned int
		skipped map[string]folder.Total
		verbose bool
		want    string
	}{
		"nothing": {1, nil, false, ""},
		"no file": {
			0, nil, false, "There was no file to look at: the folder has none, or `exclude` of the rules file leaves out all.\n",
		},
		"kept back": {
			1, map[string]folder.Total{finding.SkipBinary: {Count: 2, Bytes: 5}}, false,
			"Not looked at: 2 binary files (5 B); --verbose names each.\n",
		},
		"told": {
			1, map[string]folder.Total{finding.SkipBinary: {Count: 2, Bytes: 5}}, true, "Not looked at: 2 binary files (5 B).\n",
		},
		"unreadable": {0, map[string]folder.Total{folder.Unreadable: {Count: 1}}, false, "Not looked at: 1 can't be read.\n"},
		"both": {1, map[string]folder.Total{folder.Unreadable: {Count: 1}, folder.SkipGone: {Count: 1}}, false,
			"Not looked at: 1 can't be read, 1 removed meanwhile; --verbose names each.\n"},
		"stopped once": {
			1, map[string]folder.Total{finding.SkipRuleTimeout: {Count: 1}}, false, "Rules were stopped 1 time" + stopped,
		},
		"stopped": {1, map[string]folder.Total{finding.SkipRuleTimeout: {Count: 3}, finding.SkipBinary: {Count: 1}}, false,
			"Not looked at: 1 binary file; --verbose names each.\nRules were stopped 3 times" + stopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var errOut strings.Builder
			notes{
				st:      Streams{Err: &errOut},
				verbose: tt.verbose,
			}.end(folder.Summary{Scanned: folder.Total{Count: tt.scanned}, Skipped: tt.skipped}, time.Second)
			_, got, _ := strings.Cut(errOut.String(), "\n")
			assert.Equal(t, tt.want, got)
		})
	}
}

// The name of a file is no command to what runs the scan.
func TestNotesIsNoCommand(t *testing.T) {
	t.Parallel()
	var errOut strings.Builder
	all := notes{st: Streams{Err: &errOut}, verbose: true, most: 5, progress: &progress{}}
	for _, n := range []folder.Notice{
		{Path: "::error title=x::many", Reason: folder.SkipTooManyHits},
		{Path: "##[add-mask]bin", Reason: finding.SkipBinary},
		{Path: " ::add-mask::a", Line: 3, Reason: finding.SkipRuleTimeout, RuleID: "custom/r"},
		{Path: "##vso[x]", Reason: folder.Unreadable, Err: errors.New("##[error]\nno")},
	} {
		all.add(n)
	}
	assert.Equal(t, `\x3a:error title=x::many: has more than 5 findings; the others are only counted
##\x5badd-mask]bin: not looked at: a binary file
 \x3a:add-mask::a:3: `+finding.Skip{Reason: finding.SkipRuleTimeout, RuleID: "custom/r"}.Text()+`
##vso\x5bx]: can't be read: ##\x5berror]\nno
`, errOut.String())
}

// Nobody who scans on their own machine is sent to a server's log.
func TestChangesErrorSaysTheCause(t *testing.T) {
	t.Parallel()
	cause := errors.New("no space left on device\n")
	for code, want := range map[string]string{
		scan.CodeScanFailed:  "the scan failed: no space left on device",
		scan.CodeScanTimeout: "the scan failed: A sentence. (no space left on device)",
	} {
		err := ScanInput{}.changesError(t.Context(), nil, &scan.Failure{Code: code, Message: "A sentence.", Err: cause})
		assert.EqualError(t, err, want)
	}
}
