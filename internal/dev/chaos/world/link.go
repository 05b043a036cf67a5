package world

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Link is a TCP connection point that forwards to another one, and that can be
// cut. It stands for the network between two machines.
type Link struct {
	listener net.Listener
	target   string
	ctx      context.Context // ends with the link
	end      context.CancelFunc

	mu    sync.Mutex
	state linkState
	open  chan struct{} // closed while bytes pass
	pairs map[*pair]struct{}
	done  sync.WaitGroup
}

type linkState int

const (
	passing linkState = iota
	cut               // connections are reset
	held              // connections stay and nothing passes: a black hole
)

// pair is a connection and what it is forwarded to.
type pair struct {
	near, far net.Conn
	gone      chan struct{}
	once      sync.Once
}

// NewLink listens on addr, `127.0.0.1:0` for a free port, and forwards to
// target.
func NewLink(ctx context.Context, addr, target string) (*Link, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, target: target, open: make(chan struct{}), pairs: make(map[*pair]struct{})}
	l.ctx, l.end = context.WithCancel(context.WithoutCancel(ctx))
	close(l.open)
	l.done.Go(l.accept)
	return l, nil
}

// Addr is where the link listens, as HOST:PORT.
func (l *Link) Addr() string { return l.listener.Addr().String() }

func (l *Link) accept() {
	for {
		conn, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		l.done.Go(func() { l.serve(conn) })
	}
}

func (l *Link) serve(near net.Conn) {
	p := &pair{near: near, gone: make(chan struct{})}
	defer p.end()
	l.mu.Lock()
	if l.state == cut {
		l.mu.Unlock()
		return
	}
	l.pairs[p] = struct{}{}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.pairs, p)
		l.mu.Unlock()
	}()
	if !l.wait(p) { // a black hole takes connections, too
		return
	}
	far, err := (&net.Dialer{}).DialContext(l.ctx, "tcp", l.target)
	if err != nil {
		return
	}
	l.mu.Lock()
	select {
	case <-p.gone: // it was cut meanwhile
		l.mu.Unlock()
		_ = far.Close()
		return
	default:
		p.far = far
	}
	l.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { l.copy(p, p.far, p.near) })
	both.Go(func() { l.copy(p, p.near, p.far) })
	both.Wait()
}

// wait returns when bytes may pass; false when the connection is gone.
func (l *Link) wait(p *pair) bool {
	for {
		l.mu.Lock()
		open := l.open
		l.mu.Unlock()
		select {
		case <-p.gone:
			return false
		case <-open:
			return true
		}
	}
}

// copy passes bytes one way. The end of one way is the end of both: neither
// protocol here closes one side only.
func (l *Link) copy(p *pair, to, from net.Conn) {
	defer p.end()
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !l.wait(p) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// end closes both connections with a reset, so that no end takes it for an
// orderly close.
func (p *pair) end() {
	p.once.Do(func() {
		close(p.gone)
		for _, c := range []net.Conn{p.near, p.far} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
				_ = tcp.Close()
			}
		}
	})
}

// Cut resets every connection, and each new one at once.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = cut
	l.reset()
}

// Hold turns the link into a black hole: connections stay, and new ones are
// made, but nothing passes.
func (l *Link) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = held
	select {
	case <-l.open:
		l.open = make(chan struct{})
	default:
	}
}

// Mend lets bytes pass again. With forget the connections of before are reset,
// as by a router that lost its memory; else they go on.
func (l *Link) Mend(forget bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if forget {
		l.reset()
	}
	l.state = passing
	select {
	case <-l.open:
	default:
		close(l.open)
	}
}

// reset ends every connection. The caller holds mu.
func (l *Link) reset() {
	for p := range l.pairs {
		p.end()
	}
}

// Impaired tells whether the link is cut or held.
func (l *Link) Impaired() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state != passing
}

// Close ends the link and waits for its goroutines.
func (l *Link) Close() error {
	err := l.listener.Close()
	l.end()
	l.Cut()
	l.done.Wait()
	return err
}
