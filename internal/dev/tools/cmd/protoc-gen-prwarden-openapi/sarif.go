package main

import "github.com/getkin/kin-openapi/openapi3"

// sarifName is the component of a SARIF log.
const sarifName = "SarifLog"

// sarifSchema describes as much of a SARIF log as its readers can rely on; the
// standard has the rest.
func sarifSchema() *openapi3.SchemaRef {
	log := openapi3.NewObjectSchema()
	log.Description = "A log of the Static Analysis Results Interchange Format, with one run. The standard has its schema."
	log.ExternalDocs = &openapi3.ExternalDocs{
		Description: "SARIF 2.1.0",
		URL:         "https://docs.oasis-open.org/sarif/sarif/v2.1.0/",
	}
	version := openapi3.NewStringSchema().WithEnum("2.1.0")
	version.Description = "Version of the format."
	schema := openapi3.NewStringSchema().WithFormat("uri")
	schema.Description = "Where the JSON Schema of the format is."
	run := openapi3.NewObjectSchema()
	run.Description = "The tool with its rules, and `results`: at most 25,000, the most severe."
	runs := openapi3.NewArraySchema().WithItems(run).WithMinItems(1).WithMaxItems(1)
	runs.Description = "The one scan."
	log.Properties = openapi3.Schemas{"version": version.NewRef(), "$schema": schema.NewRef(), "runs": runs.NewRef()}
	log.Required = []string{"version", "runs"}
	return log.NewRef()
}

// sarifExample is a log with one result.
func sarifExample() map[string]any {
	text := map[string]any{"text": "Don't evaluate text as code; parse it, for example with JSON.parse."}
	rule := map[string]any{
		"id": "security/no-eval", "name": "NoEval", "shortDescription": text,
		"defaultConfiguration": map[string]any{"level": "error"},
		"properties": map[string]any{
			"tags": []any{"security"}, "precision": "high", "problem.severity": "error", "security-severity": "8.0",
		},
	}
	place := map[string]any{"physicalLocation": map[string]any{
		"artifactLocation": map[string]any{"uri": "src/cart.js", "uriBaseId": "%SRCROOT%"},
		"region":           map[string]any{"startLine": 17, "startColumn": 10, "endLine": 17, "endColumn": 15},
	}}
	result := map[string]any{
		"ruleId": "security/no-eval", "ruleIndex": 0, "level": "error", "message": text, "locations": []any{place},
		"partialFingerprints": map[string]any{
			"primaryLocationLineHash": "8c2f6b1d0a9e4573:1",
			"prwardenFingerprint/v1":  "5f2b8c0e9d714a63b1f0c2d3e4a59687",
		},
		"properties": map[string]any{"prwardenSeverity": "high"},
	}
	return map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []any{map[string]any{
			"tool": map[string]any{"driver": map[string]any{
				"name": "prwarden", "informationUri": repository, "rules": []any{rule},
			}},
			"columnKind": "utf16CodeUnits",
			"results":    []any{result},
		}},
	}
}
