package rule

import "slices"

// The ids of findings that are about a rules file, links or comments that suppress.
const (
	MetaRulesFileInvalid   = CategoryMeta + "/rules-file-invalid"
	MetaRulesFileChanged   = CategoryMeta + "/rules-file-changed"
	MetaRulesFileUnknownID = CategoryMeta + "/rules-file-unknown-id"
	MetaRulesFileLocked    = CategoryMeta + "/rules-file-locked"

	MetaLinkToOther = CategoryMeta + "/link-to-other"

	MetaSuppressionMalformed = CategoryMeta + "/suppression-malformed"
	MetaSuppressionExpired   = CategoryMeta + "/suppression-expired"
	MetaSuppressionUnused    = CategoryMeta + "/suppression-unused"
	MetaSuppressionRefused   = CategoryMeta + "/suppression-refused"
)

// MetaIDs are all of them.
func MetaIDs() []string {
	return []string{
		MetaRulesFileInvalid, MetaRulesFileChanged, MetaRulesFileUnknownID, MetaRulesFileLocked,
		MetaLinkToOther, MetaSuppressionMalformed, MetaSuppressionExpired, MetaSuppressionUnused, MetaSuppressionRefused,
	}
}

// IsMeta reports whether an id is one of MetaIDs.
func IsMeta(id string) bool { return slices.Contains(MetaIDs(), id) }
