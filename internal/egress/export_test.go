package egress

import (
	"crypto/tls"
	"net/http"
)

// KindOf is kindOf.
var KindOf = kindOf

// WithTLS is the transport of a client with other TLS settings.
func WithTLS(t http.RoundTripper, c *tls.Config) http.RoundTripper {
	g := t.(guarded)
	g.next.TLSClientConfig = c

	return g
}
