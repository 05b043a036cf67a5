package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The files of a folder of hits.
const (
	scansFile    = "scans.jsonl"
	hitsFile     = "hits.jsonl"
	verdictsFile = "verdicts.jsonl"
	contextsFile = "contexts.txt" // other people's code, which is never committed
)

// scanned is what the scans of one project came to.
type scanned struct {
	Project    string         `json:"project"`
	Time       time.Time      `json:"time"` // when the scans began
	Head       string         `json:"head"` // the newest commit
	Ruleset    string         `json:"ruleset"`
	Style      string         `json:"style"` // what was scanned: pull requests, or else commits
	Pulls      int            `json:"pulls"`
	Found      int            `json:"found"` // pull requests with a hit
	Added      int            `json:"added_lines"`
	Hits       int            `json:"hits"` // without those of low confidence, which count as not found
	Low        int            `json:"low"`  // those
	Incomplete map[string]int `json:"incomplete,omitempty"`
}

// hit is a finding in a merged pull request.
type hit struct {
	ID         string `json:"hit"`
	Project    string `json:"project"`
	Pull       int    `json:"pull"` // 0 where the project has only commits
	Commit     string `json:"commit"`
	Rule       string `json:"rule"`
	Severity   string `json:"severity"`
	Confidence string `json:"confidence,omitempty"`
	Dated      bool   `json:"dated"`
	Language   string `json:"language"`
	Path       string `json:"path"`
	Line       int    `json:"line"`
	Ruleset    string `json:"ruleset"`
}

// id is the same whenever the same line is found again.
func (h hit) id() string {
	pull := strconv.Itoa(h.Pull)
	if h.Pull == 0 {
		pull = h.Commit
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{h.Project, pull, h.Rule, h.Path, strconv.Itoa(h.Line)}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// hidden is the confidence of findings that prwarden does not show.
const hidden = "low"

func (h hit) category() string {
	category, _, _ := strings.Cut(h.Rule, "/")
	return category
}

// The verdicts. A hit is useful when a careful maintainer would change the line or want to have been told.
const (
	useful = "useful"
	not    = "not"
)

// judgement is what one reader says of a hit.
type judgement struct {
	Hit     string `json:"hit"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Reader  string `json:"reader"`
}

// The groups of projects.
const (
	tuned  = "tuned"  // rules were written or changed while looking at it
	unseen = "unseen" // nobody had looked at its hits before they were judged
)

// project is an entry of the list of projects.
type project struct {
	Project string `json:"project"`
	Group   string `json:"group"`
	Read    string `json:"read"` // when its hits were first read: a day, or a time of RFC 3339; empty for never
}

// readAt is the moment of Read; of a day it is the beginning.
func (p project) readAt() (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, p.Read); err == nil {
		return day, nil
	}
	return time.Parse(time.RFC3339, p.Read)
}

// mayBeUnseen says whether a project is one of those that may be used up now. The other quarter is for later.
func mayBeUnseen(name string) bool {
	sum := sha256.Sum256([]byte(strings.ToLower(name)))
	return sum[0]>>4 <= 0xb
}

// datedList names the rules that may find what was right when it was merged and is out of date today.
//
//go:embed data/dated.txt
var datedList string

func isDated(rule string) bool { return slices.Contains(strings.Fields(datedList), rule) }

// readLines reads a file of JSON lines; without unknown fields, so that a misspelt one is no empty one.
func readLines[T any](path string) (all []T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		var one T
		if err := decoder.Decode(&one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func writeLines[T any](path string, all []T) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, one := range all {
		if err := encoder.Encode(one); err != nil {
			return err
		}
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// listed are the projects of a list, by their names in lower case.
func listed(projects []project) (map[string]project, error) {
	all := map[string]project{}
	for _, p := range projects {
		name := strings.ToLower(p.Project)
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("%s is in the list of projects twice", p.Project)
		}
		if p.Group != tuned && p.Group != unseen {
			return nil, fmt.Errorf("%s: group %q is neither %s nor %s", p.Project, p.Group, tuned, unseen)
		}
		if _, err := p.readAt(); p.Read != "" && err != nil {
			return nil, fmt.Errorf("%s: read: %w", p.Project, err)
		}
		all[name] = p
	}
	return all, nil
}
