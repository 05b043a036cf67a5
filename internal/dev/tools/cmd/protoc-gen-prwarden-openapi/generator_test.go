package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
	assert.Equal(t, "'{\n  \"a\": \"it'\\''s\"\n}'", quoted(object{"a": "it's"}))
}
