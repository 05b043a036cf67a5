package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Versions of what checks examples; nothing that a user of an SDK needs.
const mypy = "mypy==2.4.1"

// language is one SDK.
type language struct {
	name    string
	install func(context.Context, builder) ([]example, error)
}

// example is a program to run, with the repository and the number as its last
// arguments.
type example struct {
	name    string
	rest    bool // over REST; otherwise over gRPC
	command []string
}

func languages() []language {
	return []language{
		{"go", installGo},
		{"python", installPython},
		{"typescript", installTypeScript},
		{"java", installJava},
	}
}

func names() []string {
	var all []string
	for _, l := range languages() {
		all = append(all, l.name)
	}
	return all
}

// builder runs the steps of an installation.
type builder struct {
	root string // of the repository
	dir  string // of this SDK alone
}

func installGo(ctx context.Context, b builder) ([]example, error) {
	program := filepath.Join(b.dir, "example")
	err := b.run(ctx, b.root, "go", "build", "-o", program, "./gen/go/example")
	return []example{{name: "go", command: []string{program}}}, err
}

func installPython(ctx context.Context, b builder) ([]example, error) {
	// pip builds where the sources are.
	if err := b.copy("gen/python", "package"); err != nil {
		return nil, err
	}
	venv := filepath.Join(b.dir, "venv")
	python := filepath.Join(venv, "bin", "python")
	program := filepath.Join(b.dir, "package", "examples", "review.py")
	for _, step := range [][]string{
		{"python3", "-m", "venv", venv},
		{python, "-m", "pip", "--disable-pip-version-check", "install", filepath.Join(b.dir, "package") + "[types]", mypy},
		{python, "-m", "mypy", "--strict", program},
		{python, "-m", "mypy", "--strict", "-p", "prwarden"},
	} {
		if err := b.run(ctx, b.dir, step...); err != nil {
			return nil, err
		}
	}
	return []example{{name: "python", command: []string{python, program}}}, nil
}

func installTypeScript(ctx context.Context, b builder) ([]example, error) {
	if err := b.copy("gen/typescript", "package"); err != nil {
		return nil, err
	}
	source := filepath.Join(b.dir, "package")
	for _, step := range [][]string{
		{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"},
		{"npm", "pack", "--pack-destination", b.dir},
	} {
		if err := b.run(ctx, source, step...); err != nil {
			return nil, err
		}
	}
	archives, err := filepath.Glob(filepath.Join(b.dir, "prwarden-*.tgz"))
	if err != nil || len(archives) != 1 {
		return nil, fmt.Errorf("npm pack made %d archives: %w", len(archives), err)
	}
	// A user's project: the package from its archive, and the example.
	for _, part := range []string{"examples", "tsconfig.json"} {
		if err := b.copy("gen/typescript/"+part, "project/"+part); err != nil {
			return nil, err
		}
	}
	project := filepath.Join(b.dir, "project")
	if err := os.WriteFile(filepath.Join(project, "package.json"), []byte(`{"name": "project", "type": "module"}`), 0o600); err != nil {
		return nil, err
	}
	for _, step := range [][]string{
		{"npm", "install", "--no-audit", "--no-fund", archives[0], "typescript@5.9.3", "@types/node@20"},
		{"node_modules/.bin/tsc", "--project", "examples"},
	} {
		if err := b.run(ctx, project, step...); err != nil {
			return nil, err
		}
	}
	programs := filepath.Join(project, "dist", "examples")
	return []example{
		{name: "typescript-grpc", command: []string{"node", filepath.Join(programs, "review-grpc.js")}},
		{name: "typescript-rest", rest: true, command: []string{"node", filepath.Join(programs, "review-rest.js")}},
	}, nil
}

func installJava(ctx context.Context, b builder) ([]example, error) {
	if err := b.copy("gen/java", "package"); err != nil {
		return nil, err
	}
	source := filepath.Join(b.dir, "package")
	local := "-Dmaven.repo.local=" + filepath.Join(b.root, "bin", "m2")
	for _, step := range [][]string{
		{"mvn", "--quiet", "--batch-mode", local, "install"},
		{"mvn", "--quiet", "--batch-mode", local, "--file", "example/pom.xml", "package"},
	} {
		if err := b.run(ctx, source, step...); err != nil {
			return nil, err
		}
	}
	target := filepath.Join(source, "example", "target")
	classpath := filepath.Join(target, "classes") + string(os.PathListSeparator) + filepath.Join(target, "dependency", "*")
	return []example{{name: "java", command: []string{"java", "-cp", classpath, "io.prwarden.example.ReviewExample"}}}, nil
}

// copy copies a file or a folder of the repository, what git knows of it.
func (b builder) copy(from, to string) error {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", from)
	cmd.Dir = b.root
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		content, err := os.ReadFile(filepath.Join(b.root, file))
		if os.IsNotExist(err) {
			continue // deleted, and git was not told yet
		}
		if err != nil {
			return err
		}
		target := filepath.Join(b.dir, filepath.FromSlash(to), strings.TrimPrefix(file, from))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// run runs one step; its output is told when it fails.
func (b builder) run(ctx context.Context, dir string, command ...string) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, output.Bytes())
	}
	return nil
}
