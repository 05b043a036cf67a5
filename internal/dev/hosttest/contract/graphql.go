package contract

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// GraphQL is a schema of GraphQL.
type GraphQL struct{ schema *ast.Schema }

// LoadGraphQL reads a schema. Of a field that it defines twice the first counts.
func LoadGraphQL(file string) (*GraphQL, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}

	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: file, Input: string(b)})
	if err != nil {
		return nil, err
	}

	for _, d := range doc.Definitions {
		seen, fields := map[string]bool{}, ast.FieldList{}
		for _, f := range d.Fields {
			if !seen[f.Name] {
				fields = append(fields, f)
			}
			seen[f.Name] = true
		}
		d.Fields = fields
	}

	schema, err := validator.ValidateSchemaDocument(doc)
	if err != nil {
		return nil, err
	}

	return &GraphQL{schema}, nil
}

// Check checks the body of a request: its query and its variables.
func (g *GraphQL) Check(body []byte) error {
	var q struct {
		Query     string
		Variables map[string]any
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}

	doc, list := gqlparser.LoadQueryWithRules(g.schema, q.Query, rules.NewDefaultRules())
	if len(list) > 0 {
		return fmt.Errorf("%w\n%s", list, q.Query)
	}

	for _, operation := range doc.Operations {
		if _, err := validator.VariableValues(g.schema, operation, q.Variables); err != nil {
			return fmt.Errorf("%w\n%s", err, q.Query)
		}
	}

	return nil
}
