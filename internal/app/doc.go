// Package app puts the parts together and gives them a life: it is the only
// place that knows every part. Tests start the same types as the program.
package app
