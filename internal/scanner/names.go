package scanner

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	scannerv1 "github.com/prwarden/prwarden/gen/go/prwarden/scanner/v1"
)

// lookupTimeout bounds the lookup of one name.
const lookupTimeout = 5 * time.Second

// target is an address that a configured scanner has now.
type target struct {
	address   string // IP:PORT
	authority string // HOST:PORT as configured; its certificate is for HOST
}

// follow keeps the peers those that the configured names lead to.
func (p *Pool) follow() {
	tick := time.NewTicker(p.o.Refresh)
	defer tick.Stop()
	known := map[string][]string{} // the last addresses of names
	troubles := map[string]string{}
	for {
		var targets []target
		fixed := true
		for _, authority := range p.o.Scanners {
			host, port, err := net.SplitHostPort(authority)
			if err != nil {
				p.o.Log.Error("not a HOST:PORT", "scanner", authority) // the configuration refuses it
				continue
			}
			addresses := []string{host}
			if _, err := netip.ParseAddr(host); err != nil {
				fixed = false
				addresses, err = p.lookup(host)
				trouble := ""
				if err != nil { // what the name led to before may still be there
					addresses, trouble = known[host], err.Error()
				}
				if trouble != "" && trouble != troubles[host] {
					p.o.Log.Warn("the name of a scanner can't be looked up", "scanner", authority, "error", err)
				}
				known[host], troubles[host] = addresses, trouble
			}
			for _, address := range addresses {
				targets = append(targets, target{net.JoinHostPort(address, port), authority})
			}
		}
		p.connect(targets)
		if fixed {
			return
		}
		select {
		case <-tick.C:
		case <-p.done.Done():
			return
		}
	}
}

// lookup returns the addresses of a name: those of IPv4 if there are any, since
// a machine that has both would be called twice.
func (p *Pool) lookup(name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(p.done, lookupTimeout)
	defer cancel()
	find := p.o.Lookup
	if find == nil {
		find = net.DefaultResolver.LookupHost
	}
	found, err := find(ctx, name)
	if err != nil {
		return nil, err
	}
	four := slices.DeleteFunc(slices.Clone(found), func(a string) bool {
		ip, err := netip.ParseAddr(a)
		return err != nil || !ip.Unmap().Is4()
	})
	if len(four) > 0 {
		return four, nil
	}
	if len(found) == 0 {
		return nil, errors.New("the name has no addresses")
	}
	return found, nil
}

// connect makes the peers those of targets. Whoever is not among them gets no
// new calls, and its connection is closed when the last one has ended.
func (p *Pool) connect(targets []target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wanted := map[string]target{}
	for _, t := range targets {
		if _, ok := wanted[t.address]; !ok {
			wanted[t.address] = t
		}
	}
	p.peers = slices.DeleteFunc(p.peers, func(m *peer) bool {
		if _, ok := wanted[m.name]; ok {
			delete(wanted, m.name)
			return false
		}
		p.o.Log.Info("a scanner's name leads elsewhere now", "scanner", m.name)
		m.gone, m.ready = true, false
		p.closeUnused(m)
		return true
	})
	for _, t := range wanted {
		conn, err := p.o.Dial(t.address, t.authority)
		if err != nil {
			p.o.Log.Error("a scanner can't be called", "scanner", t.address, "error", err)
			continue
		}
		m := &peer{name: t.address, conn: conn, rpc: scannerv1.NewScannerServiceClient(conn)}
		p.peers = append(p.peers, m)
		p.loops.Go(func() { p.watch(m) })
	}
}
