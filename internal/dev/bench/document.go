package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/prwarden/prwarden/internal/dev/bench/report"
)

// document keeps the results, between markers.
const document = "docs/benchmarks.md"

// writeDocument puts the report and the charts into the documents.
func (s *suite) writeDocument(text string) error {
	old, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	changed, err := report.Replace(string(old), "make bench", text)
	if err != nil {
		return err
	}
	if err := os.WriteFile(document, []byte(changed), 0o644); err != nil {
		return err
	}
	var errs []error
	for name, svg := range s.charts {
		if svg != "" {
			errs = append(errs, os.WriteFile(filepath.Join(filepath.Dir(document), "benchmark-"+name+".svg"), []byte(svg), 0o644))
		}
	}
	return errors.Join(errs...)
}
