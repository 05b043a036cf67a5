package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// What a program is made of, as CycloneDX 1.6 has it.
type (
	bom struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Ref        string     `json:"bom-ref"`
		Type       string     `json:"type"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Scope      string     `json:"scope,omitempty"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Purl       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// bom describes the program for a system: every module in it, as the linker
// wrote them down, and the standard library. Its number comes from the
// program's hash, so that the same program has the same document.
func (r *release) bom(t target, f facts) ([]byte, error) {
	main := component{
		Type: "application", Name: "prwarden", Version: r.Version,
		Purl:   purl(f.info.Main.Path, r.Version) + "?goarch=" + t.Arch + "&goos=" + t.OS + "&type=module",
		Hashes: []hash{{"SHA-256", f.sum}},
		Properties: []property{
			{"prwarden:commit", r.commit},
			{"prwarden:file", t.program()}, // whose hash it is
		},
	}
	main.Ref = main.Purl
	parts := []component{library("std", strings.TrimPrefix(f.info.GoVersion, "go"), nil)}
	for _, m := range f.info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		hashes, err := moduleHash(m)
		if err != nil {
			return nil, err
		}
		parts = append(parts, library(m.Path, m.Version, hashes))
	}
	all := dependency{Ref: main.Ref}
	list := []dependency{}
	for _, p := range parts {
		all.DependsOn = append(all.DependsOn, p.Ref)
		list = append(list, dependency{Ref: p.Ref})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
		Format: "CycloneDX", SpecVersion: "1.6", SerialNumber: serialNumber(f.sum), Version: 1,
		Metadata:   metadata{Timestamp: r.date.Format(time.RFC3339), Component: main},
		Components: parts, Dependencies: append([]dependency{all}, list...),
	})
	return out.Bytes(), err
}

func library(path, version string, hashes []hash) component {
	p := purl(path, version)
	return component{
		Ref: p, Type: "library", Name: path, Version: version, Scope: "required", Hashes: hashes, Purl: p + "?type=module",
	}
}

// purl is the package URL of a module. Paths of modules have no character that
// would need an escape, versions have `+`.
func purl(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// moduleHash is what go.sum has of a module, which is a SHA-256 of the hashes of
// its files.
func moduleHash(m *debug.Module) ([]hash, error) {
	text, ok := strings.CutPrefix(m.Sum, "h1:")
	raw, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("module %s has the sum %q, which is not one of go.sum", m.Path, m.Sum)
	}
	return []hash{{"SHA-256", hex.EncodeToString(raw)}}, nil
}

// serialNumber is a UUID of the version for own schemes, 8, from a SHA-256.
func serialNumber(sum string) string {
	return fmt.Sprintf("urn:uuid:%s-%s-8%s-a%s-%s", sum[:8], sum[8:12], sum[13:16], sum[17:20], sum[20:32])
}
