package clients

import "time"

// Record is what the client of one review knows of it: what it asked, what it
// was answered, and what it saw.
type Record struct {
	Key          string // Idempotency-Key
	Organization string
	Repo         string
	Number       int32
	ID           string        // as the creation was answered; "" when it never was
	Estimated    int32         // likewise, in milliseconds
	Wait         time.Duration // from the first try of the creation to its answer
	Tries        int           // of the creation
	Replays      int           // creations with the same key after the answer
	CancelAsked  bool          // a cancellation was sent, whether or not it was answered
	Final        string        // the final state that was seen; "" when none was
	Failure      string        // the code, when that is `failed`
	Watched      bool          // the final state came over a watch
	Seen         time.Time     // when it was
}

// Complaint is an answer that the API does not promise.
type Complaint struct {
	Key  string // of the review's record
	Text string
}
