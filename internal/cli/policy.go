package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/policy"
)

// readPolicy reads a policy from a file.
func readPolicy(path string) (policy.Policy, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return policy.Policy{}, &UsageError{Err: err}
	}
	p, err := policy.Parse(data)
	if err != nil {
		return policy.Policy{}, Usagef("%s: %w", path, err)
	}

	return p, nil
}

// ShowPolicy prints the organization's policy as YAML, as ApplyPolicy takes it.
func ShowPolicy(ctx context.Context, st Streams, c config.Client) error {
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	raw, err := client.Policy(ctx)
	if err != nil {
		return reviewError(err)
	}

	p, err := policy.FromJSON(raw)
	if err != nil {
		return err
	}
	text, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	_, err = st.Out.Write(text)

	return err
}

// ApplyPolicy makes a file the organization's policy, and says what that changes.
func ApplyPolicy(ctx context.Context, st Streams, c config.Client, path string) error {
	p, err := readPolicy(path)
	if err != nil {
		return err
	}
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	raw, err := client.Policy(ctx)
	if err != nil {
		return reviewError(err)
	}
	was, err := policy.FromJSON(raw)
	if err != nil {
		return err
	}
	var answer struct { // of a later version it may stand for keys that are not known here
		ETag string `json:"etag"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	if was.Equal(p) {
		_, err = fmt.Fprintln(st.Out, "The policy is so already.")
		return err
	}

	body, err := json.Marshal(struct {
		policy.Policy
		ETag string `json:"etag"`
	}{p, answer.ETag})
	if err != nil {
		return err
	}
	if err := client.SetPolicy(ctx, body); err != nil {
		return reviewError(err)
	}

	fmt.Fprintln(st.Out, "The policy was changed:")
	for _, f := range audit.Diff(was, p) {
		line := fmt.Sprintf("  %s: %q -> %q", f.Name, f.Before, f.After)
		fmt.Fprintln(st.Out, terminal.GuardLine(terminal.Safe(line)))
	}

	return nil
}
