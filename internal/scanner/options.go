package scanner

import (
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	_ "google.golang.org/grpc/health" // lets connections ask scanners whether they serve
	"google.golang.org/grpc/keepalive"

	"github.com/prwarden/prwarden/internal/server/port"
)

// How an end notices that the other one is gone without a word.
const (
	pingAfter  = 10 * time.Second // without traffic; gRPC's least for clients
	pingWithin = 5 * time.Second  // an answer must come
	minPing    = 5 * time.Second  // a client that pings more often is cut off
)

// Sizes in bytes, of messages as protobuf.
const (
	// MaxMessage is what a message of this interface can have. Batches are cut
	// well below it.
	MaxMessage = 4 << 20

	// maxAnswer is what a server takes of a scanner at once. The largest answer
	// has the rules of a rules file, 64 KiB of YAML. Decoded, a message can take
	// some hundred times its size.
	maxAnswer = 1 << 20

	// batchSize is the size at which a batch is sent.
	batchSize = 256 << 10

	// maxItem is what a finding or a skip can have. The largest are findings in
	// a path of 4,096 bytes by a rule with a message of 1,000 characters.
	maxItem = 16 << 10
)

// Limits of a scanner's port.
const (
	// maxConnections bounds the connections; more wait to be accepted. A server
	// makes one.
	maxConnections = 512

	// maxPerAddress is how many of them one address may have, so that a stranger
	// who only connects keeps no server out. Several servers can share one.
	maxPerAddress = 64

	// maxStreams bounds the calls of one connection. A server has at most 1,024
	// workers, and asks for the scanner's health.
	maxStreams = 1_100

	// maxHeaderList bounds the metadata of a call, in bytes: servers send a
	// trace and little else.
	maxHeaderList = 16 << 10

	// streamWindow and connWindow are how many bytes a call and a connection may
	// have on the way to the scanner before it reads them.
	streamWindow = 64 << 10
	connWindow   = 1 << 20

	// handshakeTimeout bounds how long a connection may take to be one.
	handshakeTimeout = 10 * time.Second

	// idleTimeout ends connections without calls. Servers always have one, that
	// asks for the scanner's health.
	idleTimeout = 2 * time.Minute
)

// How a server comes back to a scanner that was away.
const (
	firstRetry     = 100 * time.Millisecond
	lastRetry      = time.Second
	connectTimeout = 5 * time.Second
)

// ServerOptions are the options that every grpc.Server with this service needs.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage)}
}

// NetworkServerOptions are what it needs beside them on a network port: limits
// of what strangers can make it hold, and pings that find lost servers.
func NetworkServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaderList),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: pingAfter, Timeout: pingWithin, MaxConnectionIdle: idleTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPing, PermitWithoutStream: true}),
	}
}

// LimitConnections lets through l no more connections at once than a scanner's
// port takes, in all and from one address. refused hears of each that was
// closed at once because its address had too many.
func LimitConnections(l net.Listener, refused func()) net.Listener {
	return port.Wrap(l, port.Options{Total: maxConnections, PerAddress: maxPerAddress, Refused: refused})
}

// NetworkDialOptions are what a connection to a scanner's port needs beside
// credentials. It is kept up without calls, follows the scanner's health, and
// comes back within 2 seconds after the scanner does. Nothing is tried twice by
// gRPC itself, but for calls that never left this process.
func NetworkDialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithNoProxy(), // proxies are for code hosts
		grpc.WithIdleTimeout(0),
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(`{
			"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}
		}`),
		grpc.WithMaxHeaderListSize(maxHeaderList),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingWithin, PermitWithoutStream: true}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: firstRetry, Multiplier: 1.6, Jitter: 0.2, MaxDelay: lastRetry},
			MinConnectTimeout: connectTimeout,
		}),
	}
}
