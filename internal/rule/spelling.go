package rule

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/errs"
	"github.com/prwarden/prwarden/internal/match"
	"github.com/prwarden/prwarden/internal/spelling"
)

// MaxWords is how many Words a rule has, at most.
const MaxWords = 1000

// spellingTime is what a spelling rule costs about in a MiB of added lines, measured.
const spellingTime = 5 * time.Millisecond

// checkSpelling adds what is wrong with the words of a rule, and with what a spelling rule
// can't have.
func (r Rule) checkSpelling(v *errs.Violations) {
	if r.Type != TypeSpelling {
		if len(r.Words) > 0 {
			v.Add("words", "is for rules of type %q", TypeSpelling)
		}
		return
	}

	r.refuse(v, "looks for words that are known to be wrong", []givenField{
		{"pattern", r.Pattern != ""}, {"multiline", r.Multiline}, {"redact", r.Redact},
		{"entropy", r.Conditions.Entropy != nil}, {"checksum", r.Conditions.Checksum != ""},
		{"stopwords", len(r.Conditions.Stopwords) > 0},
	})
	if len(r.Words) > MaxWords {
		v.Add("words", "has %d entries; at most %d are allowed", len(r.Words), MaxWords)
		return
	}
	for _, wrong := range slices.Sorted(maps.Keys(r.Words)) {
		if err := r.checkWord(wrong); err != nil {
			v.Add("words", "%v", err)
			return
		}
	}
}

// checkWord says what is wrong with one of Words.
func (r Rule) checkWord(wrong string) error {
	right := r.Words[wrong]
	_, isWrong := r.Words[right]
	switch {
	case !spelling.IsWord(wrong):
		return fmt.Errorf("has%s, which can't be a misspelt word: one of %d to %d lower-case letters from a to z",
			shown(wrong, " something"), spelling.MinWord, spelling.MaxWord)
	case !spelling.IsRight(right):
		return fmt.Errorf("must have for%s what is right: words of lower-case letters from a to z, "+
			"with hyphens and apostrophes inside, and at most %d bytes in all", shown(wrong, " each"), spelling.MaxWord)
	case isWrong:
		return fmt.Errorf("has%s both as what is right and as what is wrong", shown(right, " a word"))
	}

	return nil
}

// words adds the reader of the words of a rule to the others.
func (d *decoder) words(r *Rule, known map[string]reader) {
	known["words"] = func(n *yaml.Node, place string) {
		switch {
		case isNull(n):
			return
		case n.Kind == yaml.MappingNode && len(n.Content) > 2*MaxWords:
			d.fail(n, "%s: has %d entries; at most %d are allowed", place, len(n.Content)/2, MaxWords)
			return
		}
		r.Words = map[string]string{}
		each := map[string]reader{}
		for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
			wrong := n.Content[i].Value
			each[wrong] = func(n *yaml.Node, place string) {
				right := ""
				d.text(&right)(n, place)
				r.Words[wrong] = right
			}
		}
		d.mapping(n, place, each)
	}
}

// wordFixPlace finds again the word that a spelling rule found, and how it is spelt.
func (f *fixer) wordFixPlace(lines match.Lines, hit match.Hit) (p fixPlace, ok bool) {
	line := lines.Line(hit.Line)
	from, to := hit.Column-1, hit.EndColumn-1
	if from > to || to > len(line) {
		return p, false
	}
	right, ok := f.list.Right(line[from:to])
	start := lines.Start(hit.Line)
	p.Span = match.Span{Start: start + from, End: start + to}
	p.text = func(string) []byte { return []byte(right) }

	return p, ok
}
