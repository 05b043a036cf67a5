// Package sariftest checks SARIF logs in tests.
package sariftest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	gosarif "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/stretchr/testify/require"
	"github.com/xeipuuv/gojsonschema"
)

// Valid checks a log against the schema of the standard and returns it.
func Valid(t testing.TB, log []byte) *gosarif.Report {
	t.Helper()
	require.NoError(t, check(log))
	r, err := gosarif.FromBytes(log)
	require.NoError(t, err)
	return r
}

func check(log []byte) error {
	schema, err := loadSchema()
	if err != nil {
		return err
	}
	result, err := schema.Validate(gojsonschema.NewBytesLoader(bytes.TrimSpace(log)))
	if err != nil {
		return err
	}
	var wrong []string
	for _, e := range result.Errors() {
		wrong = append(wrong, e.String())
	}
	if wrong != nil {
		return fmt.Errorf("the log is not SARIF 2.1.0:\n%s", strings.Join(wrong, "\n"))
	}
	return nil
}

// loadSchema takes the schema, which needs no network, from the source of the
// library: that itself checks only what its types have read, with more defaults
// than the schema allows.
var loadSchema = sync.OnceValues(func() (*gojsonschema.Schema, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").
		Output()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(strings.TrimSpace(string(dir)), "schema.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	if object := file.Scope.Lookup("schema"); object != nil {
		if spec, ok := object.Decl.(*ast.ValueSpec); ok {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				return nil, err
			}
			return gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
		}
	}
	return nil, fmt.Errorf("%s has no constant schema", path)
})
