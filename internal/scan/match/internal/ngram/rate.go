package ngram

import "github.com/prwarden/prwarden/internal/scan/match/internal/byteset"

// MaxWindow is the length of the longest window that is rated, in bytes.
const MaxWindow = 8

// Rate is the expected number of places per MiB of code at which window
// matches: each byte in its set. Sets are of folded bytes: upper-case letters
// in them count for nothing, nor does a line feed. A window has 1 to MaxWindow
// sets. The first use of the package decodes the table, in about 2 ms.
func Rate(window []byteset.Set) float64 { return committed().rateOfSets(window) }

// RateOf is Rate for one exact window of folded bytes.
func RateOf(window []byte) float64 { return committed().rateOfBytes(window) }

// rateOfBytes follows the chain abcd = abc · bcd / bc.
func (t *table) rateOfBytes(window []byte) float64 {
	if len(window) == 0 || len(window) > MaxWindow {
		panic("ngram: a window has 1 to 8 bytes")
	}
	share := t.share[window[0]]
	a := int(t.symbol[window[0]])
	if len(window) == 1 {
		return float64(share * t.single[a])
	}
	share *= t.share[window[1]]
	ab := a*symbols + int(t.symbol[window[1]])
	rate := t.pair[ab]
	for _, c := range window[2:] {
		rate *= t.follow(ab, int(t.symbol[c]))
		share *= t.share[c]
		ab = ab%symbols*symbols + int(t.symbol[c])
	}
	return float64(rate) * float64(share)
}

// follow is the part of the places with the pair ab that c comes next at.
func (t *table) follow(ab, c int) float32 {
	if t.pair[ab] == 0 {
		return 0
	}
	return t.rate[t.triple[ab*symbols+c]] / t.pair[ab]
}

// part is a symbol in a set, and the share of its bytes that the set has.
type part struct {
	symbol int
	share  float32
}

// parts is a set in symbols.
type parts struct {
	list [symbols]part
	n    int
}

func (p *parts) all() []part { return p.list[:p.n] }

// rateOfSets sums the chain over all texts that a window stands for, with the
// rates of its beginnings by their last two symbols in hand.
func (t *table) rateOfSets(window []byteset.Set) float64 {
	if len(window) == 0 || len(window) > MaxWindow {
		panic("ngram: a window has 1 to 8 bytes")
	}
	if exact, ok := exactly(window); ok {
		return t.rateOfBytes(exact[:len(window)])
	}
	var of [MaxWindow]parts
	most := 1
	for i := range window {
		t.reduce(&window[i], &of[i])
		most = max(most, of[i].n)
	}
	if len(window) == 1 {
		var sum float32
		for _, a := range of[0].all() {
			sum += t.single[a.symbol] * a.share
		}
		return float64(sum)
	}
	if most*most <= smallState {
		var state [2][smallState]float32
		return t.walk(of[:len(window)], state[0][:], state[1][:])
	}
	var state [2][symbols * symbols]float32
	return t.walk(of[:len(window)], state[0][:], state[1][:])
}

// smallState is the number of pairs up to which less memory is cleared.
const smallState = 256

// maxTriples bounds the trigrams that are looked up to extend a window by one
// set. Over it the byte before the last one is forgotten: c follows ab as it
// follows b. With sets so large that makes little difference.
const maxTriples = 4096

// walk is rateOfSets for two sets or more, with memory for two states.
func (t *table) walk(of []parts, state, next []float32) float64 {
	first, last := of[0].all(), of[1].all()
	for i, a := range first {
		for j, b := range last {
			state[i*len(last)+j] = t.pair[a.symbol*symbols+b.symbol] * a.share * b.share
		}
	}
	for i := range of[2:] {
		after := of[2+i].all()
		if len(first)*len(last)*len(after) <= maxTriples {
			t.extend(first, last, after, state, next)
		} else {
			t.extendShort(len(first), last, after, state, next)
		}
		first, last = last, after
		state, next = next, state
	}
	var sum float64
	for _, rate := range state[:len(first)*len(last)] {
		sum += float64(rate)
	}
	return sum
}

// extend puts into next[b,c] the sum over a of state[a,b] times the part of ab
// that c follows.
func (t *table) extend(first, last, after []part, state, next []float32) {
	clear(next[:len(last)*len(after)])
	for i, a := range first {
		for j, b := range last {
			rate := state[i*len(last)+j]
			if rate == 0 {
				continue
			}
			ab := a.symbol*symbols + b.symbol
			rate /= t.pair[ab]
			row, sums := t.triple[ab*symbols:][:symbols], next[j*len(after):][:len(after)]
			for k, c := range after {
				sums[k] += rate * c.share * t.rate[row[c.symbol]]
			}
		}
	}
}

// extendShort is extend with c following b alone.
func (t *table) extendShort(firsts int, last, after []part, state, next []float32) {
	for j, b := range last {
		var rate float32
		for i := range firsts {
			rate += state[i*len(last)+j]
		}
		if rate > 0 {
			rate /= t.single[b.symbol]
		}
		for k, c := range after {
			next[j*len(after)+k] = rate * c.share * t.pair[b.symbol*symbols+c.symbol]
		}
	}
}

// exactly returns the bytes of a window whose sets have one each.
func exactly(window []byteset.Set) (exact [MaxWindow]byte, ok bool) {
	for i := range window {
		if window[i].Len() != 1 {
			return exact, false
		}
		window[i].Each(func(b byte) { exact[i] = b })
	}
	return exact, true
}

// reduce writes a set as symbols.
func (t *table) reduce(set *byteset.Set, p *parts) {
	var share [symbols]float32
	set.Each(func(b byte) { share[t.symbol[b]] += t.share[b] })
	for s, sh := range share {
		if sh > 0 {
			p.list[p.n] = part{s, sh}
			p.n++
		}
	}
}
