// Package openapi holds the OpenAPI 3.0 document of the REST API, which
// `make generate` makes from the protos.
package openapi

import (
	_ "embed"
	"slices"
)

//go:embed openapi.json
var document []byte

// JSON returns a copy of the document: indented JSON in UTF-8.
func JSON() []byte { return slices.Clone(document) }
