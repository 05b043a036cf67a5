package world

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"
)

// Logs are what all processes say on stderr, as far as it is judged.
type Logs struct {
	mu        sync.Mutex
	completed map[string]int // by review: how often a server said that its scan ended complete
	errors    map[string]int // by process kind and message: lines of level ERROR, and lives that ended with a sentence
	strange   []string       // lines that are no JSON: a panic writes such
}

// programError begins the sentence with which a life ends that could not begin
// or go on.
const programError = "prwarden: "

// mostStrange bounds how many lines of panics are kept.
const mostStrange = 200

func newLogs() *Logs {
	return &Logs{completed: make(map[string]int), errors: make(map[string]int)}
}

// take reads a line. It tells whether it says that the process serves.
func (l *Logs) take(process, line string) (serving bool) {
	if strings.TrimSpace(line) == "" {
		return false
	}
	var entry struct {
		Level    string `json:"level"`
		Message  string `json:"msg"`
		ReviewID string `json:"review_id"`
		Status   any    `json:"status"` // of a scan a word, of a request a number
	}
	err := json.Unmarshal([]byte(line), &entry)
	whole := strings.HasSuffix(line, "\n") // else a kill cut it off
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil && strings.HasPrefix(line, programError):
		l.errors[strings.TrimRight(process, "0123456789")+": "+programError+"…"]++ // such as: the database is away at its start
	case err != nil && whole && len(l.strange) < mostStrange:
		l.strange = append(l.strange, process+": "+strings.TrimSpace(line))
	case entry.Message == "scan ended" && entry.Status == "complete":
		l.completed[entry.ReviewID]++
	case entry.Level == "ERROR":
		l.errors[strings.TrimRight(process, "0123456789")+": "+entry.Message]++
	}
	return entry.Message == "serving"
}

// Completed returns, for each review, how often a server said that its scan
// ended complete.
func (l *Logs) Completed() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.completed)
}

// Errors counts the lines of level ERROR by the kind of process and what they
// say.
func (l *Logs) Errors() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.errors)
}

// Strange are the lines that are no log lines, such as those of a panic.
func (l *Logs) Strange() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.strange...)
}
