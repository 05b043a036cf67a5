package config

import (
	"fmt"
	"slices"

	"github.com/prwarden/prwarden/internal/organization"
)

// Tenants are the organizations that a configuration file declares, and what the
// operator lets organizations use.
type Tenants struct {
	// Organizations are those of the file; none when the file does not have the
	// key, and then those of the database are as they are.
	Organizations []organization.Organization `koanf:"organizations"`
	// TokenEnvs are variables that hosts may have their tokens in although their
	// names do not begin with PRWARDEN_.
	TokenEnvs []string `koanf:"token_envs"`
}

func (t Tenants) settings() []Setting {
	return []Setting{{
		Key: "token_envs", Commands: Serve | Scanner | Organizations, Value: "NAME,...", List: true,
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
			ps.add(key+p.Field, "%s", p.Message)
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
	for _, s := range Settings(server | Review) {
		settings = append(settings, s.Env())
	}

	return organization.CheckTokenEnv(name, allowed, settings)
}
