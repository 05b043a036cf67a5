package config

import "github.com/prwarden/prwarden/internal/account"

// People is how people sign in. Only the file can hold it.
type People struct{ SignIn SignIn }

// SignIn is how people sign in beside with passwords.
type SignIn struct {
	OIDC *account.OIDC `yaml:"oidc"` // nil for no identity provider
}

func (p People) validate(ps *Problems, c Config) {
	o := p.SignIn.OIDC
	if o == nil {
		return
	}

	for _, v := range o.Validate() {
		ps.add("sign_in.oidc."+v.Field, "%s", v.Description)
	}
	if c.PublicURL == "" {
		ps.add("sign_in.oidc", "it needs public_url, the address that the identity provider sends people back to")
	}
	if c.Shared() && len(c.SecretKeys) == 0 {
		ps.add("sign_in.oidc", "on Postgres it needs secrets.keys, which seal what a browser keeps meanwhile")
	}
}
