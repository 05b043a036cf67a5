package rule

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxComments is the most comments in a pull request that a rules file or a policy can name.
const MaxComments = 100

// Publish is what a repository wants less of in its pull requests than the policy of its
// organization says. The zero Publish wants nothing. Its JSON is that of the scanner
// protocol and of the database.
type Publish struct {
	NoComments  bool     `json:"no_comments,omitempty"`
	CommentsMin Severity `json:"comments_min,omitempty"` // the least severe finding that gets a comment; 0 for any
	CommentsMax *int     `json:"comments_max,omitempty"` // in a pull request; nil for any number
	ForksMax    *int     `json:"forks_comments_max,omitempty"`
	NoSummary   bool     `json:"no_summary,omitempty"`
	NoDrafts    bool     `json:"no_drafts,omitempty"` // no comments on drafts
}

// publish reads what is under `publish`: keys of the policy, with the values that make
// less noise. The check is the organization's alone.
func (d *decoder) publish(into *Publish) reader {
	return func(n *yaml.Node, place string) {
		if isNull(n) {
			return
		}
		d.mapping(n, place, map[string]reader{
			"comments":           d.only("none", &into.NoComments),
			"comments_max":       d.comments(&into.CommentsMax),
			"comments_min":       d.severity(&into.CommentsMin),
			"drafts":             d.only("false", &into.NoDrafts),
			"forks_comments_max": d.comments(&into.ForksMax),
			"summary":            d.only("none", &into.NoSummary),
		})
	}
}

// only reads the one word that a key can have.
func (d *decoder) only(word string, into *bool) reader {
	return func(n *yaml.Node, place string) {
		if *into = n.Kind == yaml.ScalarNode && strings.EqualFold(n.Value, word); !*into {
			d.fail(n, "%s: must be %s; a rules file can only have less published, and the policy says what is", place, word)
		}
	}
}

// comments reads a number of comments.
func (d *decoder) comments(into **int) reader {
	return func(n *yaml.Node, place string) {
		*into = new(int)
		before := len(d.mistakes)
		d.number(*into)(n, place)
		if most := **into; len(d.mistakes) == before && (most < 0 || most > MaxComments) {
			d.fail(n, "%s: must be from 0 to %d, not %d", place, MaxComments, most)
		}
	}
}
