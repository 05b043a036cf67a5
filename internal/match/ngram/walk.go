package ngram

// smallState is the number of pairs up to which less memory is cleared.
const smallState = 256

// maxTriples bounds the triples that are looked up to extend a window by one
// set. Over it the byte before the last one is forgotten: c follows ab as it
// follows b. With sets so large that makes little difference.
const maxTriples = 4096

// walk is the sum over all texts that two sets or more stand for, by dynamic
// programming: state[i,j] is the rate of the texts so far that end in symbol i
// of the last set but one and symbol j of the last set.
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
			t.extendByLast(len(first), last, after, state, next)
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

// extend puts into next[b,c] the sum over a of state[a,b] times the part of the
// places of ab that c follows at.
func (t *table) extend(first, last, after []part, state, next []float32) {
	clear(next[:len(last)*len(after)])
	for i, a := range first {
		for j, b := range last {
			ab := int(a.symbol*symbols + b.symbol)
			rate := state[i*len(last)+j]
			if rate == 0 {
				continue
			}
			rate /= t.pair[ab]
			row, sums := t.triple[ab*symbols:][:symbols], next[j*len(after):][:len(after)]
			for k, c := range after {
				sums[k] += rate * c.share * t.rate[row[c.symbol]]
			}
		}
	}
}

// extendByLast is extend with c following b, whatever was before it.
func (t *table) extendByLast(firsts int, last, after []part, state, next []float32) {
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
