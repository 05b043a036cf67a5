package restclient

// The states of a review that the commands know.
const (
	StatusComplete = "complete"
	StatusFailed   = "failed"
	StatusCanceled = "canceled"
)

// Final reports whether a review in this state never changes again.
func Final(status string) bool {
	return status == StatusComplete || status == StatusFailed || status == StatusCanceled
}

// NewReview asks for a scan.
type NewReview struct {
	Repo     string `json:"repo"`
	PRNumber int32  `json:"pr_number"`
	Ruleset  string `json:"ruleset,omitempty"`
}

// Created is the answer to that.
type Created struct {
	ReviewID    string `json:"review_id"`
	Status      string `json:"status"`
	EstimatedMS int64  `json:"estimated_ms"`
}

// Review is what the commands use of a review.
type Review struct {
	ReviewID  string         `json:"review_id"`
	Status    string         `json:"status"`
	PRNumber  int32          `json:"pr_number"`
	Repo      string         `json:"repo"`
	Findings  []Finding      `json:"findings"`
	Summary   map[string]int `json:"summary"`
	Skipped   []Skip         `json:"skipped"`
	Truncated bool           `json:"truncated"`
	Error     *Failure       `json:"error"`
}

// Finding is one place where a rule fired.
type Finding struct {
	RuleID   string `json:"rule_id"`
	Severity string `json:"severity"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Message  string `json:"message"`
}

// Skip is something that was not looked at. Line is 0 and RuleID empty when
// it was more than a line or a rule.
type Skip struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	RuleID string `json:"rule_id"`
	Reason string `json:"reason"`
}

// Failure is why a review failed.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Update is one message of a watch stream.
type Update struct {
	ReviewID   string `json:"review_id"`
	Status     string `json:"status"`
	FilesDone  int    `json:"files_done"`
	FilesTotal int    `json:"files_total"` // 0 when not known
	KeepAlive  bool   `json:"keep_alive"`
}
