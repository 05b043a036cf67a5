package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
)

// placeholder is what a server fills in when it serves its document.
var placeholder = regexp.MustCompile(`\{\{[^}]*\}\}`)

// LoadSwagger reads a document of version 2, which can be a template, and keeps
// operations of it. Fields that it doesn't name are refused: a server ignores them.
func LoadSwagger(file string, operations []string) (*OpenAPI, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var old openapi2.T
	if err = json.Unmarshal(placeholder.ReplaceAll(b, nil), &old); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}

	doc, err := openapi2conv.ToV3(&old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, s := range doc.Components.Schemas {
		if v := s.Value; v != nil && v.Type.Is("object") && v.AdditionalProperties.Has == nil &&
			v.AdditionalProperties.Schema == nil {
			no := false
			v.AdditionalProperties = openapi3.AdditionalProperties{Has: &no}
		}
	}
	converted, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}

	return trim(file, converted, operations)
}
