package web

import prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"

// stateWords say what a rule does, in short.
func stateWords(r *prwardenv1.Rule) string {
	words := r.GetSeverity().String() + ", " + r.GetMode().String()
	if !r.GetEnabled() {
		words += ", off"
	}

	return words
}
