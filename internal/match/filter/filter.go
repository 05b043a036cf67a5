// Package filter is the fourth stage of the engine, the one that looks at every
// byte: it finds the places of a text at which one of thousands of windows may
// stand, at a speed that hardly depends on how many they are.
//
// # Grams
//
// The four bytes at a place are one number. Letters are made lower case in it
// (one OR for two or three places: it turns on the bit 0x20 of every byte, which
// merges a few other characters too). One multiplication hashes the number to a
// slot of a table that is small enough to stay in the processor's cache, and an
// empty slot says that no window begins here:
//
//	text      … r e t u r n   k u b e c t l . N e w …
//	gram                          └ b e c t ┘
//	hash      bect × 0x9E3779B1, its upper 19 bits = 0x5BD93
//	table     [0x5BD93] = 0: go on       ≠ 0: a place to look at
//
// Only every other place is looked at: each sequence has two windows, one at an
// even offset of it and one at an odd, and wherever it stands, one of them is at
// an even place. Eight places, which is sixteen bytes, are looked up together,
// and there is one branch for all of them.
//
// What is not empty gets two more opinions before anybody else is asked. The
// slot itself holds eight bits, of which those are set that the fifth bytes of
// its windows hash to. And each window comes with a probe, eight bytes around it
// of which the bits that are known are compared in one instruction. With a
// thousand rules a slot is marked every 64 bytes of code, the fifth byte agrees
// every 87, and a probe every 390; with five thousand every 19, 28 and 170.
//
// # Pairs and runs
//
// Windows of two bytes have a table of their own, indexed by the two bytes; when
// they begin with up to three rare bytes, these are looked for instead. A run of
// n bytes out of one set is found by looking at every n-th byte only. Neither
// costs anything in a filter that has no such windows.
package filter

import (
	"github.com/prwarden/prwarden/internal/match/byteset"
)

// Needle is a window to look for.
type Needle struct {
	Kind Kind
	// Sets are the bytes of the window. Grams have three or four, a pair two; a
	// further one is that of the byte behind the window, when it is known. A run
	// has as many as it is long, all the same.
	Sets []byteset.Set
	// Around is the bytes around the window, which begins at Around[At].
	Around []byteset.Set
	At     int
	ID     uint32 // of whom to ask at its places
}

// Kind is how a needle is looked for.
type Kind int

// The kinds of needles.
const (
	Grams Kind = iota // three or four bytes
	Pair              // two bytes
	Run               // a run of bytes
)

// Filter finds needles. It is immutable.
type Filter struct {
	Tables []*Table // of the grams and of the pairs, each for a pass over the text
	runs   []runs
}

// New makes a filter that finds needles.
func New(needles []Needle) *Filter {
	var grams, pairs, rows []Needle
	for _, n := range needles {
		switch n.Kind {
		case Grams:
			grams = append(grams, n)
		case Pair:
			pairs = append(pairs, n)
		case Run:
			rows = append(rows, n)
		}
	}
	f := &Filter{runs: groupRuns(rows)}
	if len(grams) > 0 {
		f.Tables = append(f.Tables, newTable(grams, false))
	}
	if len(pairs) > 0 {
		f.Tables = append(f.Tables, newTable(pairs, true))
	}
	return f
}

// Place is a place of a text, and who is to be asked about it.
type Place struct {
	At uint32
	ID uint32
}

// HasRuns says whether there are runs.
func (f *Filter) HasRuns() bool { return len(f.runs) > 0 }

// Size is the memory that the filter holds, in bytes.
func (f *Filter) Size() int64 {
	n := 320 * int64(len(f.runs))
	for _, t := range f.Tables {
		n += int64(len(t.marks)) + 16*int64(len(t.used)) + 4*int64(len(t.first)) + 24*int64(len(t.probes))
	}
	return n
}
