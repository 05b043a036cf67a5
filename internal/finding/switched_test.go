package finding_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
)

func TestWhatWasSwitchedOff(t *testing.T) {
	t.Parallel()
	assert.Empty(t, finding.LeftOut(finding.Exclusions{}, nil))
	assert.Equal(t, []string{"Excluded: 1 file by f."}, finding.LeftOut(finding.Exclusions{Files: 1, By: "f"}, nil))

	list := []finding.SwitchedOff{{RuleID: "a/b", By: finding.ByOrganization, How: finding.HowDisable}}
	for i := range 12 {
		list = append(list, finding.SwitchedOff{RuleID: fmt.Sprintf("c/%02d", i), By: finding.ByRepository, How: "override"})
	}
	got := finding.LeftOut(finding.Exclusions{Files: 12, By: ".prwarden/rules.yml"}, list)
	assert.Equal(t, []string{
		"Excluded: 12 files by .prwarden/rules.yml.", "Switched off by the organization: a/b (disable).",
	}, got[:2])
	assert.Contains(t, got[2], "c/09 (override), and 2 more")
}
