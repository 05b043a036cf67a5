package sarif

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"github.com/prwarden/prwarden/internal/finding"
	"github.com/prwarden/prwarden/internal/review"
)

// Keys of partialFingerprints: the one by which GitHub knows alerts again, and
// prwarden's own.
const (
	keyLineHash    = "primaryLocationLineHash"
	keyFingerprint = "prwardenFingerprint/v1"
)

func newResult(f finding.Finding, rules *ruleTable, compared bool) result {
	r := result{
		RuleID:    f.RuleID,
		RuleIndex: rules.index[f.RuleID],
		Level:     level(f.Severity),
		Message:   message{Text: plain(f.Message)},
		Locations: []location{
			{PhysicalLocation: physical{ArtifactLocation: newArtifact(f.File), Region: newRegion(f), ContextRegion: context(f)}},
		},
		PartialFingerprints: map[string]string{},
		Properties:          resultProperties{Severity: f.Severity.String()},
	}

	if f.LineHash != "" {
		r.PartialFingerprints[keyLineHash] = f.LineHash
	}
	if f.Fingerprint != "" {
		r.PartialFingerprints[keyFingerprint] = f.Fingerprint
	}

	if compared {
		r.BaselineState = baseline(f.State)
	}
	if s := f.Suppression; s != nil {
		r.Suppressions = []suppression{newSuppression(f.File, s)}
	}
	return r
}

// baseline is the word for a state; empty for none.
func baseline(s finding.State) string {
	switch s {
	case finding.StateNew:
		return "new"
	case finding.StateExisting:
		return "unchanged"
	case finding.StateFixed:
		return "absent"
	}
	return ""
}

func newSuppression(file string, s *finding.Suppression) suppression {
	out := suppression{
		Kind:          "inSource",
		Status:        "accepted",
		Justification: strings.ToValidUTF8(s.Reason, "\uFFFD"),
		Location: location{
			PhysicalLocation: physical{ArtifactLocation: newArtifact(file), Region: &region{StartLine: max(s.Line, 1)}},
		},
	}
	if s.Until != "" {
		out.Properties = &suppressedProperties{Until: s.Until}
	}
	return out
}

// newRegion is where a finding is: whole lines where no columns are known.
func newRegion(f finding.Finding) *region {
	r := &region{StartLine: max(f.Line, 1)}
	r.EndLine = max(f.EndLine, r.StartLine)
	if f.UTF16Column > 0 && f.UTF16EndColumn > 0 {
		r.StartColumn, r.EndColumn = f.UTF16Column, f.UTF16EndColumn
	}
	return r
}

// context is the line that a finding is on, as it may be shown; nil when it is
// not known or only one of several.
func context(f finding.Finding) *region {
	if f.Snippet == "" || f.EndLine > f.Line {
		return nil
	}
	line := max(f.Line, 1)
	return &region{StartLine: line, EndLine: line, Snippet: &message{Text: strings.ToValidUTF8(f.Snippet, "\uFFFD")}}
}

func newArtifact(file string) artifact {
	return artifact{URI: relativeURI(file), URIBaseID: sourceRoot}
}

// relativeURI is the path of a file as a relative reference of RFC 3986. Every
// byte that is not unreserved or a slash is percent-encoded, so that neither a
// colon makes a scheme, nor bytes that are not UTF-8 are lost. Git has no path
// that begins with a slash or has a segment `.` or `..`.
func relativeURI(file string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(file) {
		if c := file[i]; strings.IndexByte(unreserved, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&0xF]})
		}
	}
	return b.String()
}

// plain is a text in which nothing is a link: `[text](target)` is one in a
// message, as in Markdown, and rules know of no such thing.
func plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !strings.Contains(text, "](") {
		return text
	}
	return strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`).Replace(text)
}

// guid is a GUID that a review's identifier always has: the log of the next
// review names it as its baseline. It says that it is of version 5, a hash: the
// schema knows no version after that.
func guid(id string) string {
	sum := sha256.Sum256([]byte("prwarden review " + id))
	sum[6] = sum[6]&0x0F | 0x50
	sum[8] = sum[8]&0x3F | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?$`)

// semanticVersion is a version of the Go toolchain as the standard wants it;
// empty for one that is none, such as `(devel)`.
func semanticVersion(version string) string {
	v := strings.TrimPrefix(version, "v")
	if !semantic.MatchString(v) {
		return ""
	}
	return v
}

func newInvocation(r review.Review, results, total int) invocation {
	in := invocation{ExecutionSuccessful: true, StartTimeUTC: utc(r.StartedAt), EndTimeUTC: utc(r.CompletedAt)}
	if results < total {
		in.ToolExecutionNotifications = append(in.ToolExecutionNotifications, notification{
			Descriptor: reference{ID: "prwarden/too-many-results"},
			Level:      "warning",
			Message:    message{Text: fmt.Sprintf("This log has the %d most severe of %d findings.", results, total)},
		})
	}

	if r.Truncated {
		in.ToolExecutionNotifications = append(in.ToolExecutionNotifications, notification{
			Descriptor: reference{ID: "prwarden/truncated"},
			Level:      "warning",
			Message:    message{Text: "There were more findings, or more that was not looked at, than a review keeps."},
		})
	}

	for _, s := range r.Skips {
		in.ToolExecutionNotifications = append(in.ToolExecutionNotifications, skipped(s))
	}
	return in
}

// skipped says what was not looked at. The reasons that make a check
// incomplete where somebody may have expected one are warnings.
func skipped(s finding.Skip) notification {
	n := notification{
		Descriptor: reference{ID: "prwarden/skipped/" + s.Reason},
		Level:      "note",
		Locations:  []location{{PhysicalLocation: physical{ArtifactLocation: newArtifact(s.File)}}},
	}

	if s.Line > 0 {
		n.Locations[0].PhysicalLocation.Region = &region{StartLine: s.Line}
	}
	switch s.Reason {
	case "binary":
		n.Message.Text = "Not looked at: a binary file."
	case "file_too_large":
		n.Level, n.Message.Text = "warning", "Not looked at: the file is over 1 MiB."
	case "line_too_long":
		n.Level, n.Message.Text = "warning", "Not looked at: the line is over 16 KiB."
	case "submodule":
		n.Message.Text = "Not looked at: a submodule."
	case "rule_timeout":
		n.Level, n.Message.Text = "warning", "Rule "+s.RuleID+" took too long and was stopped from this file on."
		n.AssociatedRule = &reference{ID: s.RuleID}
	default:
		n.Message.Text = "Not looked at: " + s.Reason + "."
	}
	return n
}
