package scanner

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/grpc/connectivity"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
)

// lookupTimeout bounds the lookup of one name.
const lookupTimeout = 5 * time.Second

// How often is asked why a scanner can't be reached.
const (
	firstWhy = time.Second
	lastWhy  = time.Minute
)

// followNames keeps the peers those that the configured names lead to.
func (c *Client) followNames() {
	tick := time.NewTicker(c.o.Refresh)
	defer tick.Stop()
	last := map[string][]string{} // what names led to
	for {
		wanted := map[string]string{} // authorities by address
		for _, authority := range c.o.Scanners {
			host, port, err := net.SplitHostPort(authority)
			if err != nil {
				c.o.Log.Error("not a HOST:PORT", "scanner", authority) // the configuration refuses it
				continue
			}
			found, err := c.lookup(host)
			switch {
			case err == nil:
				last[host] = found
			case last[host] != nil || c.done.Err() != nil: // what the name led to may still be there
			default:
				c.o.Log.Warn("the name of a scanner can't be looked up", "scanner", authority, "error", err)
			}
			for _, address := range last[host] {
				wanted[net.JoinHostPort(address, port)] = authority
			}
		}

		c.connect(wanted)
		select {
		case <-tick.C:
		case <-c.done.Done():
			return
		}
	}
}

// lookup returns the addresses of a name: those of IPv4 if there are any, since
// a machine that has both would be called twice.
func (c *Client) lookup(name string) ([]string, error) {
	if _, err := netip.ParseAddr(name); err == nil {
		return []string{name}, nil
	}
	ctx, cancel := context.WithTimeout(c.done, lookupTimeout)
	defer cancel()
	lookup := c.o.Lookup
	if lookup == nil {
		lookup = net.DefaultResolver.LookupHost
	}
	found, err := lookup(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errors.New("the name has no addresses")
	}
	four := slices.DeleteFunc(slices.Clone(found), func(a string) bool {
		ip, err := netip.ParseAddr(a)
		return err != nil || !ip.Unmap().Is4()
	})
	if len(four) > 0 {
		return four, nil
	}

	return found, nil
}

// connect makes the peers those at the wanted addresses, which have the
// authority that they are called by. Whoever is not among them gets no new
// calls, and its connection is closed when the last one has ended.
func (c *Client) connect(wanted map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.peers = slices.DeleteFunc(c.peers, func(p *peer) bool {
		if _, ok := wanted[p.address]; ok {
			delete(wanted, p.address)
			return false
		}
		c.o.Log.Info("a scanner's name leads elsewhere now", "scanner", p.address)
		p.removed, p.ready = true, false
		c.closeUnused(p)
		return true
	})

	for address, authority := range wanted {
		conn, err := c.o.Dial(address, authority)
		if err != nil {
			c.o.Log.Error("a scanner can't be called", "scanner", address, "error", err)
			continue
		}
		p := &peer{address: address, conn: conn, rpc: scannerv1.NewScannerServiceClient(conn)}
		c.peers = append(c.peers, p)
		c.loops.Go(func() { c.watch(p) })
	}
}

// watch keeps the readiness of a peer up to date until the client is closed or
// the peer removed. A connection that keeps failing stays in one state whatever
// the reason, so the reason is asked for again, less and less often: the first
// one may be no more than that the connection was reset.
func (c *Client) watch(p *peer) {
	why := firstWhy
	for c.done.Err() == nil {
		state := p.conn.GetState()
		c.setReady(p, state == connectivity.Ready)
		wait, cancel := context.WithCancel(c.done)
		switch state {
		case connectivity.Shutdown:
			cancel()
			return
		case connectivity.Idle:
			p.conn.Connect()
		case connectivity.TransientFailure:
			err := c.whyNot(p)
			c.mu.Lock()
			c.complain(p, "a scanner can't be reached", err)
			c.mu.Unlock()
			wait, cancel = context.WithTimeout(c.done, why)
			why = min(2*why, lastWhy)
		case connectivity.Ready:
			why = firstWhy
		case connectivity.Connecting:
		}
		p.conn.WaitForStateChange(wait, state)
		cancel()
	}
}

// whyNot asks the connection what is wrong.
func (c *Client) whyNot(p *peer) error {
	ctx, cancel := context.WithTimeout(c.done, time.Second)
	defer cancel()
	if _, err := healthpb.NewHealthClient(p.conn).Check(ctx, &healthpb.HealthCheckRequest{}); err != nil {
		return err
	}

	return errors.New("it was gone for a moment")
}
