package config

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/prwarden/prwarden/internal/organization"
)

// Client is how the commands that call a server reach it. The API key itself
// is no setting: it comes from the environment or a file, so that it stands
// neither in the list of processes nor in a shell's history.
type Client struct {
	Server  string // base address of the REST API, without /v1
	KeyFile string // file that holds the API key

	// PEM files for an https server.
	CAFile     string // authorities that its certificate must come from; "" for the system's
	ClientCert string // what it is shown
	ClientKey  string
}

// EnvAPIKey is the environment variable with the API key of the commands that
// call a server.
const EnvAPIKey = EnvPrefix + "API_KEY"

func defaultClient() Client { return Client{Server: "http://127.0.0.1:8080"} }

func (c Client) settings() []Setting {
	return []Setting{
		{
			Key: "server", Field: func(c *Config) any { return &c.Server },
			Commands: Review | Connections, Value: "URL", Default: c.Server,
			Usage: "The server to call, without the /v1.",
		}, {
			Key: "key_file", Field: func(c *Config) any { return &c.KeyFile },
			Commands: Review | Connections, Value: "FILE",
			Usage: "File that holds the API key, instead of " + EnvAPIKey + ".",
		}, {
			Key: "ca_file", Field: func(c *Config) any { return &c.CAFile },
			Commands: Review | Connections, Value: "FILE",
			Usage: "Authorities (PEM) that the server's certificate must come from,\ninstead of the system's.",
		}, {
			Key: "client_cert", Field: func(c *Config) any { return &c.ClientCert },
			Commands: Review | Connections, Value: "FILE",
			Usage: "Certificate (PEM) for a server that wants one of its clients.",
		}, {
			Key: "client_key", Field: func(c *Config) any { return &c.ClientKey },
			Commands: Review | Connections, Value: "FILE",
			Usage: "Private key (PEM) of --client-cert.",
		},
	}
}

func (c Client) validate(ps *Problems) {
	u, err := url.Parse(c.Server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil {
		ps.add("server", "%q is not the address of a server; write http://HOST:PORT or https://HOST", c.Server)
	}
	if (c.ClientCert == "") != (c.ClientKey == "") {
		ps.add("client_cert", "client_cert and client_key belong together; give both or neither")
	}
}

// Tenants are the organizations that a configuration file declares, and what the
// operator lets organizations use.
type Tenants struct {
	// Organizations are those of the file; none when the file does not have the
	// key, and then those of the database are as they are.
	Organizations []organization.Organization
	// TokenEnvs are variables that hosts may have their tokens in although their
	// names do not begin with PRWARDEN_.
	TokenEnvs []string
}

func (t Tenants) settings() []Setting {
	return []Setting{{
		Key: "token_envs", Field: func(c *Config) any { return &c.TokenEnvs },
		Commands: Serve | Organizations, Value: "NAME,...", List: true,
		Usage: "Environment variables that the hosts of organizations may have their\ntokens in, beside those that begin " +
			"with PRWARDEN_ and those that this\nconfiguration file names.",
	}}
}

// validate looks at the organizations when the file has them.
func (t Tenants) validate(ps *Problems) {
	if t.Organizations != nil && len(t.Organizations) == 0 {
		ps.add("organizations", "there must be at least one; leave the key out for the organizations of the database")
	}

	seen := map[string]bool{}
	for i, o := range t.Organizations {
		key := fmt.Sprintf("organizations[%d].", i)
		for _, p := range o.Validate() {
			ps.add(key+p.Field, "%s", p.Description)
		}

		if seen[o.Name] {
			ps.add(key+"name", "%q is there twice", o.Name)
		}
		seen[o.Name] = true
	}
}

// CheckTokenEnv says why a host may not have its token in a variable, nil when
// it may: see organization.CheckTokenEnv. What the file itself names is allowed.
func (t Tenants) CheckTokenEnv(name string) error {
	allowed := slices.Clone(t.TokenEnvs)
	for _, o := range t.Organizations {
		allowed = append(allowed, o.Host.TokenEnv)
	}

	settings := []string{EnvAPIKey}
	for _, s := range Settings(everyCommand) {
		settings = append(settings, s.Env())
	}

	return organization.CheckTokenEnv(name, allowed, settings)
}
