package main

import (
	"fmt"
	"maps"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// addSamples adds what to type in a shell for a call, over REST and over gRPC,
// as the extension x-codeSamples that documentation tools show; and the name of
// the gRPC method.
func addSamples(c *call, op *openapi3.Operation) error {
	path := c.path
	message := map[string]any{} // of the gRPC call
	for _, ref := range op.Parameters {
		if p := ref.Value; p.In == openapi3.ParameterInPath {
			path = strings.Replace(path, "{"+p.Name+"}", fmt.Sprint(p.Example), 1)
			message[p.Name] = p.Example
		}
	}

	curl := `curl -sS -H "Authorization: Bearer $KEY" `
	switch {
	case c.method.Desc.IsStreamingServer():
		curl += "-N "
	case c.verb == "DELETE", c.verb == "POST" && c.body == nil:
		curl += "-X " + c.verb + " "
	}
	curl += "\\\n  \"$SERVER" + path + "\""
	if c.body != nil {
		body := op.RequestBody.Value.Content[jsonType].Example.(map[string]any)
		text, err := printed(body)
		if err != nil {
			return err
		}
		curl += " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + quote(text) + "'"
		if c.bodyField == "*" {
			maps.Copy(message, body)
		} else {
			message[c.bodyField] = body
		}
	}

	method := fmt.Sprintf("%s/%s", c.method.Parent.Desc.FullName(), c.method.Desc.Name())
	rpc := "grpcurl -H \"authorization: Bearer $KEY\" \\\n  "
	if len(message) > 0 {
		text, err := printed(message)
		if err != nil {
			return err
		}
		rpc += "-d '" + quote(text) + "' \\\n  "
	}
	rpc += `"$GRPC" ` + method

	op.Extensions = map[string]any{
		"x-grpc-method": method,
		"x-codeSamples": []any{
			map[string]any{"lang": "Shell", "label": "curl", "source": curl},
			map[string]any{"lang": "Shell", "label": "grpcurl", "source": rpc},
		},
	}
	return nil
}

// quote makes text fit to stand between single quotes in a shell.
func quote(text string) string { return strings.ReplaceAll(text, "'", `'\''`) }
