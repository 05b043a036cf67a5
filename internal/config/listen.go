package config

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Listen says where the server and the scanner listen, what the server's public
// ports show there, and whom they believe.
type Listen struct {
	HTTPAddr        string         `koanf:"http_addr"`         // REST API
	GRPCAddr        string         `koanf:"grpc_addr"`         // gRPC API
	OpsAddr         string         `koanf:"ops_addr"`          // metrics; empty for none
	ScannerGRPCAddr string         `koanf:"scanner_grpc_addr"` // the scanner's gRPC service
	TrustedProxies  []netip.Prefix `koanf:"trusted_proxies"`   // whose X-Forwarded-For counts

	// PEM files for both public ports; without a certificate they speak plain
	// text.
	ListenTLSCert     string `koanf:"listen_tls_cert"`
	ListenTLSKey      string `koanf:"listen_tls_key"`
	ListenTLSClientCA string `koanf:"listen_tls_client_ca"` // clients must show a certificate from there
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
			Key: "http_addr", Commands: Serve, Value: "HOST:PORT", Default: l.HTTPAddr,
			Usage: "Where the REST API listens. Port 0 chooses a free one.",
		}, {
			Key: "grpc_addr", Commands: Serve, Value: "HOST:PORT", Default: l.GRPCAddr,
			Usage: "Where the gRPC API listens.",
		}, {
			Key: "scanner_grpc_addr", Commands: Scanner, flag: "grpc-addr", Value: "HOST:PORT", Default: l.ScannerGRPCAddr,
			Usage: "Where the scanner listens for servers. Beyond loopback it needs\n--tls-cert, --tls-key and --tls-ca, " +
				"or --insecure.",
		}, {
			Key: "ops_addr", Commands: Serve, Value: "HOST:PORT", Default: l.OpsAddr,
			Usage: "Where Prometheus reads metrics, and probes find /healthz and /readyz,\nwithout a key: keep it " +
				"private.\nThe word none turns it off.",
		}, {
			Key: "trusted_proxies", Commands: Serve, Value: "CIDR,...", List: true,
			Usage: "Addresses or networks of reverse proxies whose X-Forwarded-For\nis believed.",
		}, {
			Key: "listen_tls_cert", Commands: Serve, Value: "FILE",
			Usage: "Certificate (PEM, with its chain) that both public ports show. It is\nread again when it changes. " +
				"Without one they speak plain text.",
		}, {
			Key: "listen_tls_key", Commands: Serve, Value: "FILE",
			Usage: "Private key (PEM) of --listen-tls-cert.",
		}, {
			Key: "listen_tls_client_ca", Commands: Serve, Value: "FILE",
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
