package servertest

import (
	"net"

	"google.golang.org/grpc/test/bufconn"
)

// Pipes is a listener in memory, whose connections keep deadlines on the clock
// of the test.
type Pipes struct{ *bufconn.Listener }

// pipeBuffer is how many bytes a connection holds each way, as a socket does.
const pipeBuffer = 64 << 10

// NewPipes makes one.
func NewPipes() *Pipes { return &Pipes{bufconn.Listen(pipeBuffer)} }

// Addr implements net.Listener: for a URL, the address has to look like one.
func (*Pipes) Addr() net.Addr { return &net.TCPAddr{} }
