package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/egress"
	"github.com/prwarden/prwarden/internal/seal"
)

// Hosts is how a server and its code hosts reach each other.
type Hosts struct {
	PublicURL        string                // where hosts and people reach the server; "" when not known
	ConnectionsAllow []string              // private addresses that connections over the API may have
	SecretKeys       []seal.Source         // they seal the secrets of connections; the first one seals new ones
	Connections      []connection.Declared // those of the file

	WebhooksAllow []string // networks of private addresses that webhooks may be sent to
}

func (h Hosts) settings() []Setting {
	return []Setting{{
		Key: "public_url", Field: func(c *Config) any { return &c.PublicURL },
		Commands: Serve | Connections | Users, Value: "URL",
		Usage: "Where code hosts and people reach this server, such as\nhttps://prwarden.example.com: for the addresses " +
			"of webhooks, and links.",
	}, {
		Key: "connections_allow", Field: func(c *Config) any { return &c.ConnectionsAllow },
		Commands: Serve, Value: "URL,...", List: true,
		Usage: "Addresses such as https://git.corp.example that connections which are\nmade over the API may have though " +
			"they lead into a private network.",
	}, {
		Key: "webhooks_allow", Field: func(c *Config) any { return &c.WebhooksAllow },
		Commands: Serve, Value: "CIDR,...", List: true,
		Usage: "Networks such as 10.1.0.0/16 that webhooks may be sent to though their\naddresses are not public.",
	}}
}

func (h Hosts) validate(ps *Problems) {
	if u, err := url.Parse(h.PublicURL); h.PublicURL != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" ||
		u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		ps.add("public_url", "%q is not the address of a server; write one such as https://prwarden.example.com", h.PublicURL)
	}
	for i, address := range h.ConnectionsAllow {
		if _, err := egress.ParseOrigin(address); err != nil {
			ps.add(fmt.Sprintf("connections_allow[%d]", i), "%v", err)
		}
	}
	for i, network := range h.WebhooksAllow {
		if p, err := netip.ParsePrefix(network); err != nil || p != p.Masked() {
			ps.add(fmt.Sprintf("webhooks_allow[%d]", i), "%q is not a network; write one such as 10.1.0.0/16", network)
		}
	}
	for _, p := range seal.Validate(h.SecretKeys) {
		ps.add("secrets."+p.Field, "%s", p.Description)
	}

	seen := map[string]bool{}
	for i, d := range h.Connections {
		key := fmt.Sprintf("connections[%d].", i)
		for _, p := range d.Validate() {
			ps.add(key+p.Field, "%s", p.Description)
		}
		if name := d.Organization + "/" + d.Name; seen[name] {
			ps.add(key+"name", "%q is there twice", d.Name)
		} else {
			seen[name] = true
		}
	}
}

// Guard is where connections that organizations make may lead: public addresses, and
// those that the operator allows.
func (h Hosts) Guard() egress.Guard {
	var g egress.Guard
	for _, address := range h.ConnectionsAllow {
		if origin, err := egress.ParseOrigin(address); err == nil { // they were validated
			g.Origins = append(g.Origins, origin)
		}
	}

	return g
}

// WebhookGuard is where webhooks may be sent: to public addresses, and to the networks
// that the operator allows.
func (h Hosts) WebhookGuard() egress.Guard {
	var g egress.Guard
	for _, network := range h.WebhooksAllow {
		if p, err := netip.ParsePrefix(network); err == nil { // they were validated
			g.Networks = append(g.Networks, p)
		}
	}

	return g
}

// HookURL is the address of a connection's webhooks; "" while the server's is not known.
func (h Hosts) HookURL(connectionID string) string {
	return h.Page("/hooks/" + connectionID)
}

// Page is the address of a path of the server; "" while the server's is not known.
func (h Hosts) Page(path string) string {
	if h.PublicURL == "" {
		return ""
	}

	return strings.TrimRight(h.PublicURL, "/") + path
}
