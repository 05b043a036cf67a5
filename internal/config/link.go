package config

// Link protects the connection between a server and its scanners. The same
// settings serve both ends: the certificate is the scanner's own on its side,
// and what the server shows on the other.
type Link struct {
	TLSCert  string `koanf:"tls_cert"` // PEM file
	TLSKey   string `koanf:"tls_key"`  // PEM file
	TLSCA    string `koanf:"tls_ca"`   // PEM file of authorities that the other end must be signed by
	Insecure bool   `koanf:"insecure"` // plain text beyond loopback
}

func (l Link) settings() []Setting {
	const both = Serve | Scanner
	return []Setting{
		{
			Key: "tls_cert", Commands: both, Value: "FILE",
			Usage: "Certificate (PEM) for the connection between server and scanner:\nthe scanner's own, or what the " +
				"server shows to its scanners.",
		}, {
			Key: "tls_key", Commands: both, Value: "FILE",
			Usage: "Private key (PEM) of --tls-cert.",
		}, {
			Key: "tls_ca", Commands: both, Value: "FILE",
			Usage: "Authorities (PEM) that the other end's certificate must come from.\nA scanner with it takes only " +
				"servers that show one; a server without\nit believes the system's authorities.",
		}, {
			Key: "insecure", Commands: both, Default: "false",
			Usage: "Let server and scanner talk in plain text beyond loopback.",
		},
	}
}

func (l Link) validate(ps *Problems, c Config) {
	if (l.TLSCert == "") != (l.TLSKey == "") {
		ps.add("tls_cert", "tls_cert and tls_key belong together; give both or neither")
	}
	if l.Insecure && (l.TLSCert != "" || l.TLSCA != "") {
		ps.add("insecure", "it contradicts tls_cert and tls_ca; give one or the other")
	}
	if _, err := splitAddr(c.ScannerGRPCAddr); err == nil && !IsLoopback(c.ScannerGRPCAddr) && (l.TLSCert == "" ||
		l.TLSCA == "") && !l.Insecure {
		ps.add(
			"scanner_grpc_addr",
			"%s can be reached from other machines; give --tls-cert and --tls-key, and --tls-ca so that only your "+
				"servers are taken, or --insecure to go without",
			c.ScannerGRPCAddr,
		)
	}
}

// TLSTo reports whether a server talks TLS to the scanner at addr, a
// HOST:PORT: beyond loopback unless Insecure, and wherever authorities or a
// certificate are given.
func (l Link) TLSTo(addr string) bool {
	if l.Insecure {
		return false
	}
	return l.TLSCA != "" || l.TLSCert != "" || !IsLoopback(addr)
}
