package egress

import (
	"net/netip"
)

// kind is a range of addresses that are no place on the public internet.
type kind struct {
	prefix netip.Prefix
	name   string // with the document that sets the range aside
}

// kinds are the ranges that are refused. Package netip's own methods miss many of
// them. An address of IPv4 inside one of IPv6 (`::ffff:`) is looked at as what it is.
var kinds = kindsOf([][2]string{
	{"0.0.0.0/8", "this network, RFC 1122"},
	{"10.0.0.0/8", "private, RFC 1918"},
	{"100.64.0.0/10", "shared by a carrier, RFC 6598"},
	{"127.0.0.0/8", "loopback, RFC 1122"},
	{"168.63.129.16/32", "Azure's metadata, learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16"},
	{"169.254.0.0/16", "link-local and metadata of clouds, RFC 3927"},
	{"172.16.0.0/12", "private, RFC 1918"},
	{"192.0.0.0/24", "protocol assignments, RFC 6890"},
	{"192.0.2.0/24", "documentation, RFC 5737"},
	{"192.88.99.0/24", "6to4 relays, RFC 7526"},
	{"192.168.0.0/16", "private, RFC 1918"},
	{"198.18.0.0/15", "benchmarks, RFC 2544"},
	{"198.51.100.0/24", "documentation, RFC 5737"},
	{"203.0.113.0/24", "documentation, RFC 5737"},
	{"224.0.0.0/4", "multicast, RFC 5771"},
	{"255.255.255.255/32", "broadcast, RFC 919"},
	{"240.0.0.0/4", "reserved, RFC 1112"},

	{"::/128", "unspecified, RFC 4291"},
	{"::1/128", "loopback, RFC 4291"},
	{"::/96", "IPv4-compatible, RFC 4291"},
	{"::ffff:0:0:0/96", "IPv4-translated, RFC 2765"},
	{"64:ff9b::/96", "NAT64, RFC 6052"},
	{"64:ff9b:1::/48", "NAT64 of a network, RFC 8215"},
	{"100::/64", "discarded, RFC 6666"},
	{"2001::/32", "Teredo, RFC 4380"},
	{"2001::/23", "protocol assignments, RFC 2928"},
	{"2001:db8::/32", "documentation, RFC 3849"},
	{"2002::/16", "6to4, RFC 3056"},
	{"3fff::/20", "documentation, RFC 9637"},
	{"fc00::/7", "private, RFC 4193"},
	{"fe80::/10", "link-local, RFC 4291"},
	{"fec0::/10", "site-local, RFC 3879"},
	{"ff00::/8", "multicast, RFC 4291"},
})

// unicast is all that is given out of IPv6 as global unicast so far.
var unicast = netip.MustParsePrefix("2000::/3")

func kindsOf(all [][2]string) (out []kind) {
	for _, one := range all {
		out = append(out, kind{netip.MustParsePrefix(one[0]), one[1]})
	}

	return out
}

// kindOf is what an address is instead of a public one; "" for a public one.
func kindOf(a netip.Addr) string {
	if a.Zone() != "" {
		return "of one link, RFC 4007"
	}

	a = a.Unmap()
	for _, k := range kinds {
		if k.prefix.Contains(a) {
			return k.name
		}
	}
	if !a.IsValid() || a.Is6() && !unicast.Contains(a) {
		return "not global unicast, RFC 4291"
	}

	return ""
}
