// Package kind says what a file is beside its language: generated, minified, vendored,
// a test, documentation or tooling. Rules may skip such files. What decides is written by the
// author of a change, so nothing that matters may depend on it.
package kind

import (
	"slices"
	"strings"
)

// Set is some of the kinds.
type Set uint8

// The kinds, each a set of one.
const (
	Generated     Set = 1 << iota // a program writes it
	Minified                      // code that is packed for machines
	Vendored                      // a copy of what somebody else maintains
	Test                          // code and data of tests
	Documentation                 // for people to read
	Tooling                       // for those who work on the project, not for its users
)

// All are all kinds.
const All = Generated | Minified | Vendored | Test | Documentation | Tooling

var names = []string{"generated", "minified", "vendored", "test", "documentation", "tooling"}

// List is the names of all kinds, for messages.
func List() string { return strings.Join(names, ", ") }

// IsName says whether a kind has that name.
func IsName(name string) bool { return slices.Contains(names, name) }

// SetOf returns the kinds with these names. Unknown names are left out.
func SetOf(list []string) (s Set) {
	for _, name := range list {
		if i := slices.Index(names, name); i >= 0 {
			s |= 1 << i
		}
	}

	return s
}

// Each returns the kinds of a set, each on its own.
func (s Set) Each() (all []Set) {
	for i := range names {
		if one := Set(1 << i); s&one != 0 {
			all = append(all, one)
		}
	}

	return all
}

// String names the kinds of a set.
func (s Set) String() string {
	var list []string
	for i, name := range names {
		if s&(1<<i) != 0 {
			list = append(list, name)
		}
	}

	return strings.Join(list, ", ")
}

// Of returns those of the wanted kinds that a file is. It takes time in proportion to
// the size of text, and memory that is bounded.
func Of(file string, text []byte, wanted Set) (found Set) {
	for _, one := range wanted.Each() {
		if Why(file, text, one) != "" {
			found |= one
		}
	}

	return found
}

// Why says what makes a file one of a kind, as a clause; "" when it is none.
func Why(file string, text []byte, one Set) string {
	switch one {
	case Generated:
		return generated(file, text)
	case Minified:
		return minified(file, text)
	case Vendored:
		return vendored(file, text)
	case Test:
		return test(file)
	case Documentation:
		return documentation(file)
	case Tooling:
		return tooling(file)
	}

	return ""
}
