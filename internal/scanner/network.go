package scanner

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	_ "google.golang.org/grpc/health" // lets connections ask scanners whether they serve
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
)

// Sizes in bytes, of messages as protobuf.
const (
	// maxAnswer is what a server takes of a scanner at once. The largest answer
	// has the rules of a rules file, 64 KiB of YAML.
	maxAnswer = 1 << 20
	// batchSize is the size at which a batch is sent.
	batchSize = 256 << 10
	// maxHeaderList bounds the metadata of a call: servers send a trace and little
	// else.
	maxHeaderList = 16 << 10
)

// How an end notices that the other one is gone without a word.
const (
	pingAfter  = 10 * time.Second // without traffic; gRPC's least for clients
	pingWithin = 5 * time.Second  // an answer must come
)

const (
	// refreshEvery is the time between two lookups of the configured names.
	refreshEvery = 10 * time.Second
	// lookupTimeout bounds the lookup of one name.
	lookupTimeout = 5 * time.Second
	// whyEvery is how often is asked why a scanner can't be reached.
	whyEvery = time.Second
)

// NetworkServerOptions are what a grpc.Server with this service needs on a network
// port: limits of what strangers can make it hold, and pings that find lost
// servers. A server makes one connection with at most 1,024 calls of its workers,
// and one that asks for the scanner's health, so it is never idle.
func NetworkServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxConcurrentStreams(1_100),
		grpc.MaxHeaderListSize(maxHeaderList),
		grpc.ConnectionTimeout(10 * time.Second), // for the handshake
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: pingAfter, Timeout: pingWithin, MaxConnectionIdle: 2 * time.Minute,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingAfter / 2, PermitWithoutStream: true}),
	}
}

// NetworkDialOptions are what a connection to a scanner's port needs beside
// credentials. It is kept up without calls, follows the scanner's health, and
// comes back within 2 seconds after the scanner does. Nothing is tried twice by
// gRPC itself, but for calls that never left this process.
func NetworkDialOptions() []grpc.DialOption {
	retry := backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}
	return []grpc.DialOption{
		grpc.WithNoProxy(), // proxies are for code hosts
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(`{
			"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}
		}`),
		grpc.WithMaxHeaderListSize(maxHeaderList),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingWithin, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: 5 * time.Second}),
	}
}

// followNames keeps the peers those that the configured names lead to.
func (c *Client) followNames() {
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()

	last := map[string][]netip.Addr{} // what names led to
	for {
		wanted := map[string]string{} // authorities by address
		for _, authority := range c.o.Scanners {
			host, port, _ := net.SplitHostPort(authority) // the configuration has checked it
			found, err := c.lookup(host)
			switch {
			case err == nil:
				last[host] = found
			case last[host] == nil && c.done.Err() == nil: // else what the name led to may still be there
				c.o.Log.Warn("the name of a scanner can't be looked up", "scanner", authority, "error", err)
			}
			for _, address := range last[host] {
				wanted[net.JoinHostPort(address.Unmap().String(), port)] = authority
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
func (c *Client) lookup(name string) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(c.done, lookupTimeout)
	defer cancel()
	if found, err := c.o.Lookup(ctx, "ip4", name); err == nil && len(found) > 0 {
		return found, nil
	}

	return c.o.Lookup(ctx, "ip6", name)
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
// the reason, so the reason is asked for again and again: the first one may be no
// more than that the connection was reset.
func (c *Client) watch(p *peer) {
	for c.done.Err() == nil {
		state := p.conn.GetState()
		c.setReady(p, state == connectivity.Ready)

		wait, cancel := context.WithTimeout(c.done, whyEvery)
		switch state {
		case connectivity.Shutdown:
			cancel()
			return
		case connectivity.Idle:
			p.conn.Connect()
		case connectivity.TransientFailure:
			_, err := healthpb.NewHealthClient(p.conn).Check(wait, &healthpb.HealthCheckRequest{})
			c.mu.Lock()
			c.complain(p, "a scanner can't be reached", err)
			c.mu.Unlock()
		}
		p.conn.WaitForStateChange(wait, state)
		cancel()
	}
}

// setReady notes whether a scanner can be reached and serves.
func (c *Client) setReady(p *peer, ready bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ready = ready && !p.removed; ready == p.ready {
		return
	}

	if p.ready = ready; ready {
		p.retryAt, p.logged = time.Time{}, ""
		c.o.Log.Info("a scanner can be reached", "scanner", p.address)
	}
	c.wake()
}

// complain logs trouble with a scanner, the same only once until it is over. mu
// must be held.
func (c *Client) complain(p *peer, what string, err error) {
	if err != nil && p.logged != err.Error() {
		p.logged = err.Error()
		c.o.Log.Warn(what, "scanner", p.address, "error", err)
	}
}

// Ready says of each scanner, by its address, whether it can be reached and serves.
func (c *Client) Ready() map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ready := map[string]bool{}
	for _, p := range c.peers {
		ready[p.address] = p.ready
	}

	return ready
}

// Waiting counts the scans that no scanner has accepted yet.
func (c *Client) Waiting() int { return int(c.scans.Load() - c.running.Load()) }
