//go:build !linux

package freeport

import (
	"context"
	"net"
)

// reserve only looks for a free port: the trick of Linux is no trick elsewhere.
func reserve() (number int, release func() error, err error) {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	return l.Addr().(*net.TCPAddr).Port, func() error { return nil }, l.Close()
}
