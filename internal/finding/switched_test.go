package finding_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/finding"
)

func TestWhatWasSwitchedOff(t *testing.T) {
	t.Parallel()
	assert.Empty(t, finding.Exclusions{}.Text())
	assert.Equal(t, "Excluded: 1 file by f.", finding.Exclusions{Files: 1, By: "f"}.Text())
	assert.Equal(t, "Excluded: 12 files by .prwarden/rules.yml.",
		finding.Exclusions{Files: 12, By: ".prwarden/rules.yml"}.Text())

	list := []finding.SwitchedOff{{RuleID: "a/b", By: finding.ByOrganization, How: finding.HowDisable}}
	for i := range 12 {
		list = append(list, finding.SwitchedOff{RuleID: fmt.Sprintf("c/%02d", i), By: finding.ByRepository, How: "override"})
	}
	assert.Equal(t, "Switched off by the organization: a/b (disable).",
		finding.SwitchedOffText(list, finding.ByOrganization))
	assert.Contains(t, finding.SwitchedOffText(list, finding.ByRepository), "c/09 (override), and 2 more")
	assert.Empty(t, finding.SwitchedOffText(list[:1], finding.ByRepository))
}
