package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/rule"
	defaults "github.com/prwarden/prwarden/internal/rule/default"
)

// Output is how a command shows findings and what decides its exit status, as
// its flags say.
type Output struct {
	Formats    []string // FORMAT or FORMAT=FILE each; a table when empty
	FailOn     string   // a severity, or FailNever
	NewOnly    bool     // only new findings fail
	Suppressed string   // SuppressedInclude or SuppressedOmit: whether SARIF has them
	Color      string   // terminal.ColorAuto, ColorAlways or ColorNever

	// Annotations says whether the format github has findings that a check shows already:
	// AnnotationsAuto, as "" is, for none of them, or AnnotationsAlways.
	Annotations string

	AllowIncomplete bool // what was not looked at does not fail
}

// Words for flags.
const (
	FailNever         = "none"
	SuppressedInclude = "include"
	SuppressedOmit    = "omit"
	AnnotationsAuto   = "auto"
	AnnotationsAlways = "always"
)

// outputs is an Output that was found to be right.
type outputs struct {
	st     Streams
	list   []report.Output
	style  report.Style
	failOn rule.Severity // 0 for none
	flags  Output
}

// parse says what is wrong with the flags.
func (o Output) parse(st Streams) (*outputs, error) {
	list, err := report.ParseOutputs(o.Formats)
	for _, output := range list {
		// Before a scan is waited for that nobody would see the findings of.
		dir := filepath.Dir(output.File)
		if info, missing := os.Stat(dir); output.File != "" && (missing != nil || !info.IsDir()) {
			err = fmt.Errorf("%s=%s: there is no folder %s", output.Format, terminal.Safe(output.File), terminal.Safe(dir))
		}
		if info, missing := os.Stat(output.File); missing == nil && info.IsDir() {
			err = fmt.Errorf("%s=%s: this is a folder; name a file", output.Format, terminal.Safe(output.File))
		}
	}
	if err != nil {
		return nil, Usagef("--output: %w", err)
	}

	failOn, ok := rule.ParseSeverity(o.FailOn)
	if !ok && o.FailOn != FailNever {
		return nil, Usagef("--fail-on: %q is no severity; use %s or %s", o.FailOn, rule.SeverityList(), FailNever)
	}
	if o.Suppressed != SuppressedInclude && o.Suppressed != SuppressedOmit {
		return nil, Usagef("--suppressed: %q is neither %s nor %s", o.Suppressed, SuppressedInclude, SuppressedOmit)
	}
	if o.Annotations != "" && o.Annotations != AnnotationsAuto && o.Annotations != AnnotationsAlways {
		return nil, Usagef("--annotations: %q is neither %s nor %s", o.Annotations, AnnotationsAuto, AnnotationsAlways)
	}
	colors := []string{terminal.ColorAuto, terminal.ColorAlways, terminal.ColorNever}
	if !slices.Contains(colors, o.Color) {
		return nil, Usagef("--color: %q is none of %s", o.Color, strings.Join(colors, ", "))
	}

	return &outputs{
		st: st, list: list, failOn: failOn, flags: o,
		style: report.Style{
			Width: terminal.Width(st.Out, st.Lookup("COLUMNS")),
			Color: terminal.Colors(st.Out, o.Color, st.Lookup),
		},
	}, nil
}

// withdraw removes the reports of earlier calls when this one ended without a
// report: a later step of a CI job would take them for what was found now. Where
// GitHub looks for annotations it gets one of the error, with which this call ended
// and which is returned.
func (o *outputs) withdraw(err error) error {
	if err == nil || errors.Is(err, ErrSilent) {
		return err
	}
	if slices.Contains(o.list, report.Output{Format: report.GitHub}) {
		text := terminal.Safe(strings.Join(strings.Fields(err.Error()), " "))
		_, _ = io.WriteString(o.st.Out, report.Annotation("error", text)) // stderr has it all the same
	}
	for _, output := range o.list {
		err = errors.Join(err, output.Remove())
	}
	return err
}

// show writes a report to all outputs, and fails with ErrFound when its
// findings reach the threshold. Where no table says how it ended, stderr does.
func (o *outputs) show(r report.Report) error {
	if r.Rules == nil {
		known, err := defaults.Load()
		if err != nil {
			return err
		}
		r.Rules = rule.ByID(known)
	}

	r.FailOn, r.NewOnly, r.AllowIncomplete = o.failOn, o.flags.NewOnly, o.flags.AllowIncomplete
	if v := r.Review.Verdict; v != nil && r.FailOn != 0 {
		r.FailOn = max(r.FailOn, v.Threshold) // a policy may ask for a stricter one
		stricter, skips := v.Stricter(r.FailOn, r.Review.Skips)
		r.Review.Verdict, r.Review.Skips = &stricter, skips
	}
	r.Annotate = o.flags.Annotations == AnnotationsAlways
	r.OmitSuppressed = o.flags.Suppressed == SuppressedOmit
	r.Version = build.Read().Version
	if err := report.Write(o.list, r, o.st.Out, o.style); err != nil {
		return fmt.Errorf("the findings can't be written: %w", err)
	}
	if err := report.AppendStepSummary(o.list, r, o.st.Lookup); err != nil {
		return fmt.Errorf("the job summary can't be written: %w", err)
	}

	if !slices.Contains(o.list, report.Output{Format: report.Table}) {
		for _, line := range append(r.SwitchedOff(), r.Summary(), r.Base(), r.Verdict()) {
			if line != "" {
				o.st.note("%s", line)
			}
		}
	}
	if !r.Passes() {
		return ErrFound
	}
	return nil
}

// plainEvery is the least time between two progress lines of the same state where
// there is no terminal.
const plainEvery = 5 * time.Second

// progress shows how far a review or a local scan is: one line that changes on a
// terminal, a line now and then elsewhere. It is safe for concurrent use.
type progress struct {
	w    io.Writer
	live bool

	mu     sync.Mutex
	shown  string // what the live line shows
	status string // of the last plain line
	at     time.Time
}

func newProgress(st Streams) *progress {
	return &progress{w: st.Err, live: terminal.Is(st.Err)}
}

// update shows what a server tells of a review.
func (p *progress) update(u restclient.Update) {
	var text string
	switch {
	case u.KeepAlive:
		return
	case u.Status == "queued" && u.Available != nil:
		text = "waiting: the server reaches no scanner"
	case u.Status == "queued":
		text = "waiting for a worker"
	case u.Status == "in_progress" && u.FilesTotal > 0:
		text = fmt.Sprintf("scanning: %d of %d files", u.FilesDone, u.FilesTotal)
	case u.Status == "in_progress":
		text = "scanning: fetching the pull request"
	default:
		return
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.line(text)
	} else if u.Status != p.status || time.Since(p.at) >= plainEvery {
		p.status, p.at = u.Status, time.Now()
		fmt.Fprintln(p.w, text)
	}
}

// local shows how far a local scan is. A log needs none: the scan is over before
// a line would help.
func (p *progress) local(files string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live {
		p.line("scanning: " + files)
	}
}

// line replaces the live line. It needs no escape sequences.
func (p *progress) line(text string) {
	fmt.Fprint(p.w, "\r"+terminal.Pad(text, len(p.shown)))
	p.shown = text
}

// say writes a line of Safe parts that stays.
func (p *progress) say(format string, args ...any) {
	p.end()
	fmt.Fprint(p.w, terminal.GuardLines(fmt.Sprintf(format+"\n", args...)))
}

// end takes the live line away.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown != "" {
		fmt.Fprint(p.w, "\r"+strings.Repeat(" ", len(p.shown))+"\r")
		p.shown = ""
	}
}

// writeLines writes a list as JSON, a line each.
func writeLines[T any](w io.Writer, list []T) error {
	lines := json.NewEncoder(w)
	for _, each := range list {
		if err := lines.Encode(each); err != nil {
			return err
		}
	}

	return nil
}
