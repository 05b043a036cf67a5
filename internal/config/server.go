package config

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// Listen says where the server and the scanner listen, what the server's public
// ports show there, and whom they believe.
type Listen struct {
	HTTPAddr        string         // REST API
	GRPCAddr        string         // gRPC API
	OpsAddr         string         // metrics; empty for none
	ScannerGRPCAddr string         // the scanner's gRPC service
	TrustedProxies  []netip.Prefix // whose X-Forwarded-For counts

	// PEM files for both public ports; without a certificate they speak plain
	// text.
	ListenTLSCert     string
	ListenTLSKey      string
	ListenTLSClientCA string // clients must show a certificate from there
}

func defaultListen() Listen {
	return Listen{
		HTTPAddr:        "127.0.0.1:8080",
		GRPCAddr:        "127.0.0.1:9090",
		OpsAddr:         "127.0.0.1:9095",
		ScannerGRPCAddr: "127.0.0.1:9191",
	}
}

func (l Listen) settings() []Setting {
	return []Setting{
		{
			Key: "http_addr", Field: func(c *Config) any { return &c.HTTPAddr },
			Commands: Serve, Value: "HOST:PORT", Default: l.HTTPAddr,
			Usage: "Where the REST API listens. Port 0 chooses a free one.",
		}, {
			Key: "grpc_addr", Field: func(c *Config) any { return &c.GRPCAddr },
			Commands: Serve, Value: "HOST:PORT", Default: l.GRPCAddr,
			Usage: "Where the gRPC API listens.",
		}, {
			Key: "scanner_grpc_addr", Field: func(c *Config) any { return &c.ScannerGRPCAddr },
			Commands: Scanner, flag: "grpc-addr", Value: "HOST:PORT", Default: l.ScannerGRPCAddr,
			Usage: "Where the scanner listens for servers. Beyond loopback it needs\n--tls-cert, --tls-key and --tls-ca, " +
				"or --insecure.",
		}, {
			Key: "ops_addr", Field: func(c *Config) any { return &c.OpsAddr },
			Commands: Serve, Value: "HOST:PORT", Default: l.OpsAddr,
			Usage: "Where Prometheus reads metrics, and probes find /healthz and /readyz,\nwithout a key: keep it " +
				"private.\nThe word none turns it off.",
		}, {
			Key: "trusted_proxies", Field: func(c *Config) any { return &c.TrustedProxies },
			Commands: Serve, Value: "CIDR,...", List: true,
			Usage: "Addresses or networks of reverse proxies whose X-Forwarded-For\nis believed.",
		}, {
			Key: "listen_tls_cert", Field: func(c *Config) any { return &c.ListenTLSCert },
			Commands: Serve, Value: "FILE",
			Usage: "Certificate (PEM, with its chain) that both public ports show. It is\nread again when it changes. " +
				"Without one they speak plain text.",
		}, {
			Key: "listen_tls_key", Field: func(c *Config) any { return &c.ListenTLSKey },
			Commands: Serve, Value: "FILE",
			Usage: "Private key (PEM) of --listen-tls-cert.",
		}, {
			Key: "listen_tls_client_ca", Field: func(c *Config) any { return &c.ListenTLSClientCA },
			Commands: Serve, Value: "FILE",
			Usage: "Authorities (PEM): clients must show a certificate from one of them,\nbeside their API key.",
		},
	}
}

func (l Listen) validate(ps *Problems) {
	checkListenAddr(ps, "http_addr", l.HTTPAddr)
	checkListenAddr(ps, "grpc_addr", l.GRPCAddr)
	checkListenAddr(ps, "scanner_grpc_addr", l.ScannerGRPCAddr)
	if l.OpsAddr != OpsNone {
		checkListenAddr(ps, "ops_addr", l.OpsAddr)
	}
	if (l.ListenTLSCert == "") != (l.ListenTLSKey == "") {
		ps.add("listen_tls_cert", "listen_tls_cert and listen_tls_key belong together; give both or neither")
	}
	if l.ListenTLSClientCA != "" && l.ListenTLSCert == "" {
		ps.add(
			"listen_tls_client_ca", "it needs listen_tls_cert and listen_tls_key: without TLS nobody can show a certificate",
		)
	}
}

// OpsNone as OpsAddr or ScannerOpsAddr turns the metrics listener off.
const OpsNone = "none"

func checkListenAddr(ps *Problems, key, addr string) {
	if _, err := splitAddr(addr); err != nil {
		ps.add(
			key, "%q: %v; it must be HOST:PORT, such as 127.0.0.1:8080, [::1]:8080, or :8080 for every interface", addr, err,
		)
	}
}

// splitAddr returns the host of a host:port with a port from 0 to 65535.
func splitAddr(addr string) (host string, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("no host and port")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("the port %q is not a number from 0 to 65535", port)
	}
	return host, nil
}

// IsLoopback reports whether nothing but this machine can reach addr, a
// HOST:PORT. A name other than localhost is taken to be reachable.
func IsLoopback(addr string) bool {
	host, err := splitAddr(addr)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Link protects the connection between a server and its scanners. The same
// settings serve both ends: the certificate is the scanner's own on its side,
// and what the server shows on the other.
type Link struct {
	TLSCert  string // PEM file
	TLSKey   string // PEM file
	TLSCA    string // PEM file of authorities that the other end must be signed by
	Insecure bool   // plain text beyond loopback
}

func (l Link) settings() []Setting {
	const both = Serve | Scanner
	return []Setting{
		{
			Key: "tls_cert", Field: func(c *Config) any { return &c.TLSCert },
			Commands: both, Value: "FILE",
			Usage: "Certificate (PEM) for the connection between server and scanner:\nthe scanner's own, or what the " +
				"server shows to its scanners.",
		}, {
			Key: "tls_key", Field: func(c *Config) any { return &c.TLSKey },
			Commands: both, Value: "FILE",
			Usage: "Private key (PEM) of --tls-cert.",
		}, {
			Key: "tls_ca", Field: func(c *Config) any { return &c.TLSCA },
			Commands: both, Value: "FILE",
			Usage: "Authorities (PEM) that the other end's certificate must come from.\nA scanner with it takes only " +
				"servers that show one; a server without\nit believes the system's authorities.",
		}, {
			Key: "insecure", Field: func(c *Config) any { return &c.Insecure },
			Commands: both, Default: "false",
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

// Process is how a process behaves: what it logs and how it ends.
type Process struct {
	LogLevel      slog.Level    // the least that is logged
	ShutdownGrace time.Duration // how long running requests may take at the end
}

const maxShutdownGrace = 10 * time.Minute

func defaultProcess() Process {
	return Process{LogLevel: slog.LevelInfo, ShutdownGrace: 20 * time.Second}
}

func (p Process) settings() []Setting {
	return []Setting{
		{
			Key: "log_level", Field: func(c *Config) any { return &c.LogLevel },
			Commands: Serve | Scanner, Value: "LEVEL", Default: "info",
			Usage: "The least that is logged: debug, info, warn or error.",
		}, {
			Key: "shutdown_grace", Field: func(c *Config) any { return &c.ShutdownGrace },
			Commands: Serve | Scanner, Value: "DURATION", Default: p.ShutdownGrace.String(),
			Usage: "How long running requests may take after SIGTERM.",
		},
	}
}

func (p Process) validate(ps *Problems) {
	if p.ShutdownGrace < 0 || p.ShutdownGrace > maxShutdownGrace {
		ps.add("shutdown_grace", "%v is not allowed; it must be from 0s to %v", p.ShutdownGrace, maxShutdownGrace)
	}
}
