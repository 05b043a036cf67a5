package codehost

import "strings"

// A comment of ours begins with a marker, which is invisible where Markdown has HTML
// comments. By it a comment is found again when the database doesn't know of it.
// Anybody can write a marker: it counts only in comments of our own account.
const (
	markerStart = "<!-- prwarden:1:"
	markerEnd   = " -->"
	summary     = "summary"
)

// SummaryMarker is the first line of a summary.
const SummaryMarker = markerStart + summary + markerEnd

// MaxFingerprint is the longest fingerprint that a marker can have, in bytes.
const MaxFingerprint = 64

// Marker is the first line of a comment on a finding.
func Marker(fingerprint string) string { return markerStart + fingerprint + markerEnd }

// FingerprintIn is the fingerprint in the marker of a comment; "" for a comment that
// has none, and for a summary. Only the beginning counts, because the text after it can
// be somebody else's.
func FingerprintIn(body string) string {
	if name := marked(body); name != summary {
		return name
	}

	return ""
}

// IsSummary tells whether a comment has the marker of a summary.
func IsSummary(body string) bool { return marked(body) == summary }

// marked is what the marker of a comment names; "" for none.
func marked(body string) string {
	rest, found := strings.CutPrefix(strings.TrimLeft(body, " \t\r\n"), markerStart)
	if !found {
		return ""
	}

	name, _, found := strings.Cut(rest[:min(len(rest), MaxFingerprint+len(markerEnd))], markerEnd)
	if !found || strings.Trim(name, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}

	return name
}

// Bitbucket shows HTML comments, and hides what Markdown defines for links and never uses.
const (
	hiddenStart = "[//]: # ("
	hiddenEnd   = ")"
)

// HideMarkers writes the markers at the beginning of a comment in a form that Bitbucket
// doesn't show. ShowMarkers undoes it.
func HideMarkers(body string) string {
	var out strings.Builder
	for {
		rest, found := strings.CutPrefix(body, "<!-- prwarden:")
		name, after, ended := strings.Cut(rest, markerEnd)
		if !found || !ended || strings.ContainsAny(name, "()\n") || after != "" && after[0] != '\n' {
			break
		}
		out.WriteString(hiddenStart + "prwarden:" + name + hiddenEnd + "\n")
		body = strings.TrimPrefix(after, "\n")
	}
	if out.Len() == 0 {
		return body
	}

	return out.String() + "\n" + body
}

// ShowMarkers is a comment as it was before HideMarkers.
func ShowMarkers(body string) string {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	var out strings.Builder
	for {
		line, after, _ := strings.Cut(body, "\n")
		name, found := strings.CutPrefix(line, hiddenStart+"prwarden:")
		name, ended := strings.CutSuffix(name, hiddenEnd)
		if !found || !ended {
			break
		}
		out.WriteString("<!-- prwarden:" + name + markerEnd + "\n")
		body = after
	}
	if out.Len() == 0 {
		return body
	}
	if body = strings.TrimPrefix(body, "\n"); body == "" {
		return strings.TrimSuffix(out.String(), "\n")
	}

	return out.String() + body
}
