package confirm

import (
	"math"
	"regexp"
	"regexp/syntax"
	"sync"
	"sync/atomic"

	"github.com/prwarden/prwarden/internal/match/parse"
)

// FreeMemory is what each part of a program that is compiled when it is needed
// may have, in bytes, however much others took: the instructions of its automata,
// and each of its regexps. Few rules need more.
const FreeMemory = 8 << 10

// statesSize is what the states of an automaton take mostly, in bytes.
const statesSize = 2 << 10

// Room is the memory for what is large of all programs. A part of it is for the
// programs of automata, so that which of them there are doesn't depend on what is used
// first; what they leave and the rest is for states and regexps.
type Room struct{ programs, left atomic.Int64 }

// NewRoom makes a room of so many bytes.
func NewRoom(bytes int64) *Room {
	r := &Room{}
	r.programs.Store(bytes / 4)
	r.left.Store(bytes - bytes/4)

	return r
}

// Settle says that there are all programs.
func (r *Room) Settle() { r.left.Add(r.programs.Swap(0)) }

// Ranges is how many ranges of characters the classes of a pattern have, as
// `[a-z0-9]` has two and `\pL` 659.
type Ranges struct {
	Tree     int // as it is parsed
	Expanded int // where a class counts as often as a repetition has it copied
}

// RangesOf counts the ranges of a pattern.
func RangesOf(re *syntax.Regexp) (r Ranges) {
	if re.Op == syntax.OpCharClass {
		r = Ranges{len(re.Rune) / 2, len(re.Rune) / 2}
	}

	for _, sub := range re.Sub {
		s := RangesOf(sub)
		r.Tree += s.Tree
		r.Expanded = min(r.Expanded+s.Expanded, math.MaxInt32)
	}

	if re.Op == syntax.OpRepeat {
		r.Expanded = min(r.Expanded*max(re.Min, re.Max, 1), math.MaxInt32)
	}

	return r
}

// regexpSize estimates the memory of a compiled regexp, in bytes. One that begins
// with ^ has copies of its classes for each instruction.
func regexpSize(re *syntax.Regexp, size int, r Ranges) int64 {
	bytes := 600 + 48*int64(size) + 8*int64(r.Tree)
	if hasOp(re, syntax.OpBeginText) {
		bytes += 72*int64(size) + 14*int64(r.Expanded)
	}

	return bytes
}

// progSize estimates the memory of a program for automata, in bytes, without
// their states.
func progSize(size, ranges int) int64 { return 600 + 56*int64(size) + 24*int64(ranges) }

// programSize estimates the memory of a program that is used in every way, in
// bytes, without what it takes of the room. weight is that of a regexp.
func programSize(p parse.Pattern, size int, r Ranges, weight int64) int64 {
	bytes := int64(800 + 2*statesSize)
	for _, part := range []int64{weight, weight, progSize(size, r.Tree)} {
		if part <= FreeMemory {
			bytes += part
		}
	}

	return bytes
}

// Size estimates from above the memory of what is compiled when it is first
// needed, without what it takes of the room that all programs share, in bytes.
func (p *Program) Size() int64 { return p.memory }

// keep compiles a regexp when it is first needed. A large one for which there is
// no room is compiled each time.
func keep(size int64, room *Room, compile func() *regexp.Regexp) func() *regexp.Regexp {
	var mu sync.Mutex // so that one is compiled at a time
	var kept atomic.Pointer[regexp.Regexp]

	return func() *regexp.Regexp {
		if re := kept.Load(); re != nil {
			return re
		}
		mu.Lock()
		defer mu.Unlock()
		if re := kept.Load(); re != nil {
			return re
		}
		re := compile()
		if take(&room.left, size) {
			kept.Store(re)
		}

		return re
	}
}

// take says whether something may be kept, in what is free or in the room.
func take(room *atomic.Int64, size int64) bool {
	if size <= FreeMemory {
		return true
	}
	if room.Add(-size) >= 0 {
		return true
	}
	room.Add(size)

	return false
}
