package main

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	t.Parallel()
	assert.Empty(t, reflow(""))
	assert.Equal(t, "Says it. All.", reflow(" Says\n it.\n All.\n"))
	assert.Equal(t, "One and a half.\n\nTwo.", reflow("One\nand a half.\n\nTwo."))
	assert.Equal(t, "Makes a key.", sentence("CreateKey", "CreateKey makes a key."))
	assert.Equal(t, "Makes a key.", sentence("CreateKey", "Makes a key."))
	assert.Equal(t, "List findings", title("ListFindings"))
	assert.Equal(t, "Get SARIF", title("GetSarif"))
	text, err := quoted("it's")
	require.NoError(t, err)
	assert.Equal(t, `'"it'\''s"'`, text)
}

func TestCheckRefusesABadExample(t *testing.T) {
	t.Parallel()
	for example, right := range map[any]bool{1: true, "one": false} {
		media := openapi3.NewMediaType().WithSchema(openapi3.NewInt32Schema())
		media.Example = example
		op := openapi3.NewOperation()
		op.AddResponse(200, openapi3.NewResponse().WithDescription("d").WithContent(openapi3.Content{jsonType: media}))
		doc := &openapi3.T{OpenAPI: "3.0.3", Info: &openapi3.Info{Title: "t", Version: "v1"}}
		doc.AddOperation("/v1", "GET", op)

		text, err := render(doc)
		require.NoError(t, err)
		assert.Equal(t, right, check(text) == nil, example)
	}
}
