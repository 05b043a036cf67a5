// Package freeport gives tests TCP ports of 127.0.0.1 for programs that need the
// same one again when they are started again, or must be told theirs before
// they listen. A port that was only looked up, by listening and closing, may be
// anybody's a moment later.
package freeport

import "fmt"

// Port is a port that, on Linux, nobody else is given until Close: not who
// listens on port 0, not another Reserve. Whoever names it may listen on it, in
// any process, and nobody answers there while none does. Elsewhere it was only
// looked up.
type Port struct {
	number  int
	release func() error
}

// Reserve reserves a port.
func Reserve() (*Port, error) {
	number, release, err := reserve()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	return &Port{number, release}, nil
}

// Number is the port's number.
func (p *Port) Number() int { return p.number }

// Addr is the port as HOST:PORT.
func (p *Port) Addr() string { return fmt.Sprintf("127.0.0.1:%d", p.number) }

// Close gives the port back. Closing twice is closing once.
func (p *Port) Close() error {
	if p.release == nil {
		return nil
	}
	release := p.release
	p.release = nil
	return release()
}
