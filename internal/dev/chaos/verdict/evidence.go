// Package verdict judges what a run left: the database's rows and the clients'
// own records must tell the same story, and it must be one that prwarden
// promises.
package verdict

import (
	"github.com/prwarden/prwarden/internal/dev/chaos/clients"
	"github.com/prwarden/prwarden/internal/dev/chaos/pulls"
)

// Evidence is all that a verdict looks at.
type Evidence struct {
	Want       func(repo string, number int32) (pulls.Pull, bool)
	Records    []clients.Record
	Complaints []clients.Complaint
	Shown      map[string]clients.Review // every accepted review, as the API shows it at the end
	Stored     Stored
	Completed  map[string]int // by review: how often a server logged that its scan ended complete
	Strange    []string       // lines of processes that are no log lines
	Left       Leftovers
	Passing    []string // codes that the faults of the run may fail a review with
	// MostPassing is the share of accepted reviews, from 0 to 1, that may fail
	// with such a code: the retries are there so that few do.
	MostPassing float64
}

// Stored is what the database has.
type Stored struct {
	Reviews       map[string]Review
	Findings      map[string][]Finding // by review, in their order
	Keys          map[Key]string       // idempotency key: review
	Organizations map[string]Counts
	Transitions   []Transition // in the order in which they were made; nil when the database did not watch
}

// Review is a row.
type Review struct {
	Organization string
	Repo         string
	Number       int32
	Status       string
	FailureCode  string
	Message      string // of the failure
	Attempt      int
	Failures     int
	Lost         int
	CompletedAt  int64 // microseconds since 1970; 0 for none
}

// Finding is a row.
type Finding struct {
	pulls.Finding
	Position    int
	Fingerprint string
}

// Key is an idempotency key.
type Key struct{ Organization, Key string }

// Counts are an organization's own counts, and those of its rows.
type Counts struct {
	Queued, Running         int
	RowsQueued, RowsRunning int
}

// Transition is a change of a review's state or attempt, as the database wrote
// it down.
type Transition struct {
	At       int64 // microseconds since 1970
	ReviewID string
	Was, Is  string // states; Was is "" for a creation
	Attempt  int
	Failures int
	Lost     int
	Worker   string
}

// Leftovers are what should be gone when nothing is to be done any more.
type Leftovers struct {
	Processes []string // of git and prwarden, as command lines
	Files     []string // temporary files
	Grown     []string // processes with more goroutines or open files than at their beginning
}
