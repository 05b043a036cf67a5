package extract

import "slices"

// run is the sequences of consecutive items.
type run struct {
	seqs  []Seq
	from  int // index of the first item
	end   int // index of the item behind the last
	start int // bytes before it, or Unknown
}

func (r run) until(end int) run {
	r.end = end
	return r
}

// isEnough says whether all of the run's sequences are rare by themselves.
func (r run) isEnough() bool {
	for _, s := range r.seqs {
		letters := 0 // bytes that are known but for their case
		for _, set := range s {
			if set.Len() <= 2 {
				letters++
			}
		}
		if letters < enough {
			return false
		}
	}
	return true
}

func newRun(from, start int) run { return run{seqs: []Seq{{}}, from: from, start: start} }

// add appends an item's alternatives, or does nothing and says so when they are
// unknown or too many.
func (r *run) add(exact []Seq) bool {
	if exact == nil || len(r.seqs)*len(exact) > maxAlternatives {
		return false
	}
	for _, a := range r.seqs {
		for _, b := range exact {
			if len(a)+len(b) > maxSeq {
				return false
			}
		}
	}
	if len(exact) == 1 {
		for i := range r.seqs {
			r.seqs[i] = append(r.seqs[i], exact[0]...)
		}
		return true
	}
	out := make([]Seq, 0, len(r.seqs)*len(exact))
	for _, a := range r.seqs {
		for _, b := range exact {
			out = append(out, slices.Concat(a, b))
		}
	}
	r.seqs = out
	return true
}
