// Command workflows checks with actionlint what there is for GitHub Actions:
// the workflows in documents, and composite actions, which actionlint knows
// only from outside: their steps are checked as those of a workflow with the
// same inputs. It runs at the root of the repository.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/rhysd/actionlint"
	"go.yaml.in/yaml/v3"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "workflows:", err)
		os.Exit(1)
	}
}

// run checks files: action.yml files, and documents in Markdown.
func run(files []string) error {
	project, err := actionlint.NewProject(".")
	if err != nil {
		return err
	}
	linter, err := actionlint.NewLinter(os.Stdout, &actionlint.LinterOptions{})
	if err != nil {
		return err
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		workflows, err := workflowsOf(file, text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		for _, w := range workflows {
			problems, err := linter.Lint(file, w, project)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			found += len(problems)
		}
	}
	if found > 0 {
		return fmt.Errorf("%d problems", found)
	}
	fmt.Println("workflows and actions are clean")
	return nil
}

// block is a code block of a document that begins with the name of a
// workflow's file.
var block = regexp.MustCompile("(?ms)^```ya?ml\n(# \\.(?:github|gitea|forgejo)/workflows/.*?)^```$")

// ourAction is how a workflow of somebody else names our action; actionlint
// checks inputs and outputs of actions in the same repository only.
var ourAction = regexp.MustCompile(`prwarden/prwarden/(\.github/actions/[a-z-]+)@\S+`)

// workflowsOf are the workflows in a file.
func workflowsOf(file string, text []byte) ([][]byte, error) {
	if filepath.Ext(file) != ".md" {
		w, err := workflowOf(text)
		return [][]byte{w}, err
	}
	var all [][]byte
	for _, m := range block.FindAllSubmatchIndex(text, -1) {
		// The lines before it are kept as empty ones, so that problems have the
		// lines of the document.
		lines := bytes.Repeat([]byte("\n"), bytes.Count(text[:m[2]], []byte("\n")))
		all = append(all, append(lines, ourAction.ReplaceAll(text[m[2]:m[3]], []byte("./$1"))...))
	}
	if len(all) == 0 {
		return nil, errors.New("no workflow is in it")
	}
	return all, nil
}

// workflowOf makes a workflow of a composite action.
func workflowOf(action []byte) ([]byte, error) {
	var a struct {
		Inputs  map[string]map[string]any
		Outputs map[string]map[string]any
		Runs    struct {
			Using string
			Steps []any
		}
	}
	if err := yaml.Unmarshal(action, &a); err != nil {
		return nil, err
	}
	if a.Runs.Using != "composite" {
		return nil, fmt.Errorf("it runs %q, not composite", a.Runs.Using)
	}
	outputs := map[string]any{}
	for name, o := range a.Outputs {
		outputs[name] = o["value"]
	}
	for _, in := range a.Inputs {
		in["type"] = "string"
	}
	return yaml.Marshal(map[string]any{
		"on": map[string]any{"workflow_call": map[string]any{"inputs": a.Inputs}},
		"jobs": map[string]any{"action": map[string]any{
			"runs-on": "ubuntu-latest", "steps": a.Runs.Steps, "outputs": outputs,
		}},
	})
}
