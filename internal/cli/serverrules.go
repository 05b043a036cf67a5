package cli

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/policy"
	"github.com/prwarden/prwarden/internal/rule"
)

// ServerRules says where the organization's rules for a local scan come from.
type ServerRules struct {
	Client  config.Client
	Known   bool   // a server was named; without a key its rules are not asked for
	Leave   bool   // without the organization's rules
	Offline bool   // those that were fetched before, without asking the server
	Repo    string // `owner/name`, whose rules from the API apply, too; "" for none
	Cache   string // a folder for what was fetched; "" for one of the user
}

const (
	// fetchTime is for how long a server is asked, and cachedFetchTime when there
	// is something to go on with: a commit waits for it.
	fetchTime       = 30 * time.Second
	cachedFetchTime = 5 * time.Second

	// maxCachedRules bounds a file of fetched rules: an organization may have
	// 5,000, and a repository as many.
	maxCachedRules = 64 << 20
)

// fetched is rules as they are kept on the disk. The key is not among it.
type fetched struct {
	Server    string        `json:"server"`
	FetchedAt time.Time     `json:"fetched_at"`
	Digest    string        `json:"digest"` // of what follows
	Rules     []fetchedRule `json:"rules"`

	// Policy is the organization's as the API has it; nothing when the key may not
	// read it.
	Policy json.RawMessage `json:"policy,omitempty"`
}

// organizationRules are what an organization decides for a local scan. Nothing
// is known of it in the zero value.
type organizationRules struct {
	rules  []rule.Rule
	policy *policy.Policy // nil for policy.Default
}

// fetchedRule is a rule and where it is from.
type fetchedRule struct {
	rule.Document
	Origin rule.Origin `json:"origin"`
}

// load returns the rules and the policy of the organization, and says on stderr
// which they are. Without a server and a key there are none.
func (s ServerRules) load(ctx context.Context, st Streams) (known organizationRules, err error) {
	hasKey := s.Client.KeyFile != "" || st.Lookup(config.EnvAPIKey) != ""
	switch {
	case s.Leave:
		return known, nil
	case !s.Known || !hasKey:
		if s.Offline {
			return known, Usagef("--offline needs to know whose rules: name the server, and give its API key in %s",
				config.EnvAPIKey)
		}
		if s.Known {
			st.note("without the rules of the organization: %s has no API key", config.EnvAPIKey)
		}
		return known, nil
	}

	key, err := apiKey(st, s.Client)
	if err != nil {
		return known, err
	}
	path, err := s.path(key)
	if err != nil {
		return known, err
	}
	cached, kept := readFetched(path)
	if s.Offline {
		if !kept {
			return known, Usagef("--offline: no rules of %s were fetched before; scan once without it", s.Client.Server)
		}
		st.note("applying %s of %s, fetched %s ago", cached.count(), s.Client.Server, cached.age())
		return cached.organization(), nil
	}

	fresh, err := s.fetch(ctx, st, kept)
	switch {
	case err == nil:
		st.note("applying %s of %s", fresh.count(), s.Client.Server)
		if err := fresh.write(path); err != nil {
			st.note("the rules can't be kept for when the server is away: %s", terminal.Safe(err.Error()))
		}
		return fresh.organization(), nil
	case ctx.Err() != nil:
		return known, errInterrupted
	}

	var usage *UsageError
	if errors.As(err, &usage) || !kept {
		return known, fmt.Errorf("the rules of the organization: %w; --no-server scans without them", err)
	}
	st.note("applying %s of %s, fetched %s ago: %s", cached.count(), s.Client.Server,
		cached.age(), terminal.Safe(err.Error()))
	return cached.organization(), nil
}

// fetch asks the server. Where something is known already it isn't waited for
// long.
func (s ServerRules) fetch(ctx context.Context, st Streams, known bool) (fetched, error) {
	var last error
	client, err := newClient(st, s.Client, func(err error) { last = err })
	if err != nil {
		return fetched{}, err
	}
	limit := fetchTime
	if known {
		limit = cachedFetchTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	out := fetched{Server: s.Client.Server, FetchedAt: time.Now().UTC()}
	for _, set := range []struct {
		name   string
		origin rule.Origin
	}{{rule.RulesetCustom, rule.OriginCustom}, {s.Repo, rule.OriginRepository}} {
		if set.name == "" {
			continue
		}
		rules, err := client.Rules(ctx, set.name)
		var refused *restclient.APIError
		if set.origin == rule.OriginRepository && errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			continue // it has none
		}
		if err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				err = cmp.Or(last, err)
			}
			return fetched{}, reviewError(err)
		}
		out.add(rules, set.origin)
	}
	if err := out.addPolicy(ctx, st, client); err != nil {
		return fetched{}, reviewError(err)
	}
	out.Digest = out.digest()

	return out, nil
}

// addPolicy adds the policy, which not every key may read.
func (f *fetched) addPolicy(ctx context.Context, st Streams, client *restclient.Client) error {
	raw, err := client.Policy(ctx)
	var refused *restclient.APIError
	if errors.As(err, &refused) && refused.Status == http.StatusForbidden {
		st.note("applying the default policy: the API key has not the scope policy:read")
		return nil
	}
	if err != nil {
		return err
	}

	var compact bytes.Buffer // as it will be in the file
	err = json.Compact(&compact, raw)
	f.Policy = compact.Bytes()
	return err
}

// add adds those rules of a ruleset that come from the API. The rules file is the
// one that is here.
func (f *fetched) add(rules []restclient.Rule, origin rule.Origin) {
	for _, r := range rules {
		if !r.CreatedAt.IsZero() {
			f.Rules = append(f.Rules, fetchedRule{r.Document, origin})
		}
	}
}

// organization returns what is known, as scans have it.
func (f fetched) organization() organizationRules {
	out := organizationRules{rules: f.rules()}
	if p, err := policy.FromJSON(f.Policy); err == nil && len(f.Policy) > 0 {
		out.policy = &p
	}

	return out
}

// digest is of the rules and the policy.
func (f fetched) digest() string {
	sum := sha256.Sum256(append([]byte(rule.Digest(f.rules())), f.Policy...))

	return hex.EncodeToString(sum[:])
}

// rules returns the rules as scans have them.
func (f fetched) rules() []rule.Rule {
	out := make([]rule.Rule, 0, len(f.Rules))
	for _, d := range f.Rules {
		r := d.Document.Rule()
		r.Origin = d.Origin
		out = append(out, r)
	}

	return out
}

// count is how many rules apply, for people.
func (f fetched) count() string {
	n := 0
	for _, d := range f.Rules {
		if d.Enabled == nil || *d.Enabled {
			n++
		}
	}

	return terminal.Count(n, "rule")
}

// age is how long ago the rules were fetched.
func (f fetched) age() time.Duration {
	age := time.Since(f.FetchedAt)
	if age > time.Hour {
		return age.Round(time.Hour)
	}
	return max(age.Round(time.Second), time.Second)
}

// path is where rules are kept: those of a server, a key and a repository. Nothing
// can be told from the name about the key, which is 178 random bits.
func (s ServerRules) path(key string) (string, error) {
	folder := s.Cache
	if folder == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", Usagef("there is no folder to keep the organization's rules in: %w", err)
		}
		folder = filepath.Join(user, "prwarden", "rules")
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{"rules", s.Client.Server, key, s.Repo}))

	return filepath.Join(folder, hex.EncodeToString(sum[:16])+".json"), nil
}

// readFetched reads rules that were kept. Those that are not what was written
// don't count.
func readFetched(path string) (f fetched, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return f, false
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, maxCachedRules))
	if err != nil || json.Unmarshal(data, &f) != nil {
		return f, false
	}

	return f, f.digest() == f.Digest
}

// write keeps the rules for their owner alone. Another scan at the same time reads
// the old ones or the new ones.
func (f fetched) write(path string) error {
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".rules-*") // of mode 0600
	if err != nil {
		return err
	}

	_, err = file.Write(data)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
