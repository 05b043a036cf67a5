package scanner

import (
	"regexp"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
	"github.com/prwarden/prwarden/internal/scan"
)

// requestOf is what a client wants scanned, but for the rules. Branch names are
// checked where they are used.
func requestOf(p *scannerv1.ScanStart) (scan.Request, error) {
	r := scan.Request{
		Target: scan.Target{
			Organization: p.GetOrganization(),
			Repo:         p.GetRepo(),
			Number:       p.GetPrNumber(),
			Commits:      scan.Commits{Head: p.GetHeadSha(), Base: p.GetBaseSha(), BaseRef: p.GetBaseRef()},
		},
		MaxFindings:   int(p.GetMaxFindings()),
		RequireReason: p.GetRequireReason(),
		Today:         p.GetToday(),
		Unsuppressed:  !p.GetSuppressions(),
	}
	switch p.GetSelection() {
	case scannerv1.ScanStart_repository:
		r.Selection = scan.SelectRepository
	case scannerv1.ScanStart_default_ruleset:
		r.Selection = scan.SelectDefault
	case scannerv1.ScanStart_custom:
		r.Selection = scan.SelectCustom
	default:
		return scan.Request{}, status.Errorf(codes.InvalidArgument, "selection: unknown value %d", p.GetSelection())
	}
	if err := checkCommits(r.Commits); err != nil {
		return scan.Request{}, err
	}
	if r.Today != "" {
		if _, err := time.Parse(time.DateOnly, r.Today); err != nil {
			return scan.Request{}, status.Error(codes.InvalidArgument, "today: must be a day as YYYY-MM-DD")
		}
	}
	return r, nil
}

var sha = regexp.MustCompile(`^[0-9a-f]{40}$`)

func checkCommits(c scan.Commits) error {
	switch {
	case c == scan.Commits{}:
		return nil
	case !sha.MatchString(c.Head):
		return status.Error(codes.InvalidArgument, "head_sha: must be 40 hexadecimal digits")
	case (c.Base == "") == (c.BaseRef == ""):
		return status.Error(codes.InvalidArgument, "base_sha: exactly one of base_sha and base_ref must be there with head_sha")
	case c.Base != "" && !sha.MatchString(c.Base):
		return status.Error(codes.InvalidArgument, "base_sha: must be 40 hexadecimal digits")
	}
	return nil
}
