package connection

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/audit"
	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/errs"
)

// Declared is a connection as a configuration file declares it. Each secret is in a
// variable of the environment or in a file.
type Declared struct {
	Organization string        `yaml:"organization"`
	Name         string        `yaml:"name"`
	Kind         codehost.Kind `yaml:"kind"`
	URL          string        `yaml:"url"`
	APIURL       string        `yaml:"api_url"`
	GitURL       string        `yaml:"git_url"`
	Repositories []string      `yaml:"repositories"`
	Account      string        `yaml:"account"`
	AppID        int64         `yaml:"app_id"`
	Installation int64         `yaml:"installation_id"`

	TokenEnv       string `yaml:"token_env"`
	TokenFile      string `yaml:"token_file"`
	GitTokenEnv    string `yaml:"git_token_env"`
	GitTokenFile   string `yaml:"git_token_file"`
	PrivateKeyEnv  string `yaml:"private_key_env"`
	PrivateKeyFile string `yaml:"private_key_file"`
	WebhookEnv     string `yaml:"webhook_secret_env"`
	WebhookFile    string `yaml:"webhook_secret_file"`
}

// source says where a secret of a declaration is.
type source struct{ field, env, file string }

func (d Declared) sources() []source {
	return []source{
		{"token", d.TokenEnv, d.TokenFile}, {"git_token", d.GitTokenEnv, d.GitTokenFile},
		{"private_key", d.PrivateKeyEnv, d.PrivateKeyFile}, {"webhook_secret", d.WebhookEnv, d.WebhookFile},
	}
}

// Validate returns what is wrong with a declaration as far as can be seen without its
// secrets, nil for nothing.
func (d Declared) Validate() errs.Violations {
	var v errs.Violations
	if d.Organization == "" {
		v.Add("organization", "it is missing; name the organization that the connection belongs to")
	}
	for _, s := range d.sources() {
		if s.env != "" && s.file != "" {
			v.Add(s.field+"_env", "a secret is either in a variable (_env) or in a file (_file); give one of them")
		}
	}

	return append(v, d.connection().withDefaults().validate(nil)...)
}

func (d Declared) connection() Connection {
	return Connection{
		Organization: d.Organization, Name: d.Name, Kind: d.Kind, URL: d.URL, APIURL: d.APIURL, GitURL: d.GitURL,
		Repositories: d.Repositories, Account: d.Account, AppID: d.AppID, Installation: d.Installation,
		State: Active, Declared: true, Trusted: true,
	}
}

// secrets reads the secrets. An error names the variable or file, never what is in it.
func (d Declared) secrets(lookup func(string) string) (out Secrets, err error) {
	for _, s := range d.sources() {
		text := ""
		if s.file != "" {
			data, err := os.ReadFile(s.file)
			if err != nil {
				return Secrets{}, fmt.Errorf("%s_file can't be read: %w", s.field, err)
			}
			text = string(data)
		} else if s.env != "" {
			text = lookup(s.env)
		}
		text = strings.TrimSpace(text)
		switch {
		case s.env+s.file == "":
		case text == "":
			return Secrets{}, fmt.Errorf("%s is empty: %s", s.field, cmp.Or(s.file, "the variable "+s.env))
		case s.field == "token":
			out.Token = text
		case s.field == "git_token":
			out.GitToken = text
		case s.field == "private_key":
			out.PrivateKey = text + "\n"
		default:
			out.Webhook = []string{text}
		}
	}

	return out, nil
}

// Declare stores the connections that a configuration file declares, by organization
// and name. Those that it doesn't have any more stay and lose the mark. It changes
// nothing that is so already, and a connection keeps its identifier.
func (s *Service) Declare(ctx context.Context, declared []Declared, lookup func(string) string) error {
	// Whoever starts a program changes nothing by that; the file does.
	ctx = audit.NewContext(ctx, audit.Actor{Kind: audit.System})
	list, err := s.Store.ListConnections(ctx, "")
	if err != nil {
		return err
	}

	for _, d := range declared {
		if err := s.declare(ctx, d, list, lookup); err != nil {
			return fmt.Errorf("the connection %q of the configuration file can't be stored: %w", d.Name, err)
		}
	}
	for _, c := range list {
		if !c.Declared || slices.ContainsFunc(declared, func(d Declared) bool { return d.is(c) }) {
			continue
		}
		s.Log.Warn("the configuration file doesn't have a connection any more; it stays until it is deleted",
			"organization", c.Organization, "connection", c.Name)
		if _, err := s.Store.ChangeConnection(ctx, c.Organization, c.ID, func(c *Stored) (audit.Change, error) {
			before := c.Audited()
			c.Declared = false

			return changed(*c, before), nil
		}); err != nil {
			return err
		}
	}

	return nil
}

func (d Declared) is(c Stored) bool { return c.Organization == d.Organization && c.Name == d.Name }

func (s *Service) declare(
	ctx context.Context, d Declared, list []Stored, lookup func(string) string,
) error {
	secrets, err := d.secrets(lookup)
	if err != nil {
		return err
	}
	wanted := d.connection().withDefaults()
	if err := s.check(wanted, &secrets); err != nil {
		return err
	}

	i := slices.IndexFunc(list, d.is)
	if i < 0 {
		wanted.ID, wanted.CreatedBy = newID(), audit.FromContext(ctx).String()
		_, err := s.create(ctx, wanted, secrets)
		if errs.ReasonOf(err) != errs.ReasonConnectionExists {
			return err
		}
		// Another server with the same file was faster.
		return nil
	}

	_, err = s.Store.ChangeConnection(ctx, list[i].Organization, list[i].ID, func(c *Stored) (audit.Change, error) {
		return s.redeclare(c, wanted, secrets)
	})

	return err
}

// redeclare makes a stored connection what a file declares.
func (s *Service) redeclare(c *Stored, wanted Connection, secrets Secrets) (audit.Change, error) {
	var replaced []audit.Field
	had, err := s.unseal(*c)
	if err != nil || !had.equal(secrets) {
		replaced = []audit.Field{{Name: "secrets", After: "(replaced)"}}
		sealed, err := s.seal(c.Connection, secrets)
		if err != nil {
			return audit.Change{}, err
		}
		c.Sealed, c.State, c.Reason = sealed, Active, ""
	}

	before := c.Audited()
	account := cmp.Or(wanted.Account, c.Account)                // which a test may have found
	if wanted.AppID == c.AppID && wanted.Account == c.Account { // likewise
		wanted.Installation = cmp.Or(wanted.Installation, c.Installation)
	}
	c.Kind, c.URL, c.APIURL, c.GitURL = wanted.Kind, wanted.URL, wanted.APIURL, wanted.GitURL
	c.Repositories, c.Account = wanted.Repositories, account
	c.AppID, c.Installation = wanted.AppID, wanted.Installation
	c.Declared, c.Trusted = true, true

	return changed(*c, before, replaced...), nil
}

func (s Secrets) equal(o Secrets) bool {
	return s.Token == o.Token && s.GitToken == o.GitToken && s.PrivateKey == o.PrivateKey &&
		slices.Equal(s.Webhook, o.Webhook)
}
