package structure

import "slices"

// Needs returns regular expressions of which one matches in each file with a place of the
// condition: those for which cost is the least in sum.
func (f *Finder) Needs(cost func(pattern string) float64) []string {
	best, _ := f.root.needs(cost)
	return best
}

// allHashes are the hashes of what a condition needs, see File.mayHave.
func (n *node) allHashes() (all []uint32) {
	for _, hashes := range n.hashes() {
		all = append(append(all, hashes...), 0)
	}

	return slices.Clip(all)
}

// maxHashes is how many hashes rule a file out, at most.
const maxHashes = 8

// hashes are alternatives: every place needs all that have the hashes of one of these.
func (n *node) hashes() (alternatives [][]uint32) {
	var common []uint32
	if n.pattern != nil {
		common = n.pattern.needs[:len(n.pattern.needs)-1]
	}
	for _, sub := range append([]*node{n.inside, n.has}, n.all...) {
		if sub == nil {
			continue
		}
		if own := sub.hashes(); len(own) == 1 {
			common = slices.Concat(common, own[0])
		}
	}
	common = common[:min(len(common), maxHashes)]
	if len(n.any) == 0 {
		return [][]uint32{common}
	}
	for _, sub := range n.any {
		for _, own := range sub.hashes() {
			all := slices.Concat(own, common)
			alternatives = append(alternatives, all[:min(len(all), maxHashes)])
		}
	}

	return alternatives
}

// hasWord says whether there are words that every place has, see Needs.
func (n *node) hasWord() bool {
	around := func(sub *node) bool { return sub != nil && sub.hasWord() }
	isWord := func(e element) bool { return e.kind == literal && e.word != "" }

	return n.pattern != nil && slices.ContainsFunc(n.pattern.elements, isWord) ||
		slices.ContainsFunc(n.all, (*node).hasWord) || around(n.inside) || around(n.has) ||
		len(n.any) > 0 && !slices.ContainsFunc(n.any, func(sub *node) bool { return !sub.hasWord() })
}

func (n *node) needs(cost func(string) float64) (best []string, least float64) {
	consider := func(words []string, price float64) {
		if len(words) > 0 && (best == nil || price < least) {
			best, least = words, price
		}
	}
	if n.pattern != nil {
		for _, word := range n.pattern.words() {
			consider([]string{word}, cost(word))
		}
	}
	for _, sub := range slices.Concat(n.all, []*node{n.inside, n.has}) {
		if sub != nil {
			consider(sub.needs(cost))
		}
	}

	var either []string
	sum, all := 0.0, true
	for _, sub := range n.any {
		words, _ := sub.needs(cost)
		all = all && len(words) > 0
		for _, word := range words {
			if !slices.Contains(either, word) {
				either = append(either, word)
				sum += cost(word)
			}
		}
	}
	if all {
		consider(either, sum)
	}

	return best, least
}
