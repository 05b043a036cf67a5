// Package browser tests the dashboard in a real Chromium, as a person uses it. The
// tests need Chromium and Node.js, so they have a build tag; `make test-browser` runs
// them.
package browser
