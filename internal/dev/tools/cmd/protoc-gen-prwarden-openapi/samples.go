package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// sample adds what to type in a shell for a call, over REST and over gRPC, as
// the extension x-codeSamples that documentation tools show; and the name of
// the gRPC method.
func sample(op operation, finished *openapi3.Operation) error {
	method := fmt.Sprintf("%s/%s", op.method.Parent().FullName(), op.method.Name())
	path := op.path
	message := map[string]any{} // of the gRPC call
	for _, ref := range finished.Parameters {
		parameter := ref.Value
		if parameter.In != openapi3.ParameterInPath {
			continue
		}
		value, ok := parameter.Example.(string)
		if !ok {
			return fmt.Errorf("the path parameter %s has no example", parameter.Name)
		}
		path = strings.Replace(path, "{"+parameter.Name+"}", value, 1)
		message[parameter.Name] = value
	}
	curl := "curl -sS -H \"Authorization: Bearer $KEY\" "
	switch {
	case op.method.IsStreamingServer():
		curl += "-N "
	case op.verb != "GET" && op.verb != "POST", op.verb == "POST" && finished.RequestBody == nil:
		curl += "-X " + op.verb + " "
	}
	curl += "\\\n  \"$SERVER" + path + "\""
	if finished.RequestBody != nil {
		body := finished.RequestBody.Value.Content[jsonType].Example.(map[string]any)
		text, err := printed(body)
		if err != nil {
			return err
		}
		curl += " \\\n  -H 'Content-Type: application/json' \\\n  -d '" + quote(text) + "'"
		if op.body == "*" {
			for name, value := range body {
				message[name] = value
			}
		} else {
			message[op.body] = body
		}
	}
	text, err := printed(message)
	if err != nil {
		return err
	}
	rpc := "grpcurl -H \"authorization: Bearer $KEY\" \\\n  "
	if len(message) > 0 {
		rpc += "-d '" + quote(text) + "' \\\n  "
	}
	rpc += "\"$GRPC\" " + method
	finished.Extensions = map[string]any{
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

// printed returns JSON on one line, or on several when it is long.
func printed(value any) (string, error) {
	const wide = 60
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return "", err
	}
	if text.Len() > wide {
		text.Reset()
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(value); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(text.String()), nil
}
