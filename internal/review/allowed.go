package review

import (
	"fmt"
	"time"
)

// A review may wait while its repository is taken out of the organization's
// configuration, and then it fails. But of several servers one may not have
// been told yet that the repository was added, so a server hands the review
// back first: maxNotAllowed attempts, with notAllowedDelay in between, leave the
// others ten minutes.
const (
	maxNotAllowed   = 60
	notAllowedDelay = 10 * time.Second
)

// notAllowed is why a repository is not scanned that the configuration does not
// allow.
func notAllowed(c Claim) *ScanError {
	return &ScanError{
		Failure: Failure{
			Code:    codeNotAllowed,
			Message: fmt.Sprintf("The organization %s may not use the repository %s any more; the server's configuration lists the repositories of each organization.", c.Organization, c.Repo),
		},
		Lasting: c.Attempt >= maxNotAllowed,
	}
}
