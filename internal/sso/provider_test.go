package sso_test

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the client is known by at the provider.
const (
	clientID     = "prwarden"
	clientSecret = "s3cret"
	redirectURL  = "https://prwarden.example.com/auth/oidc/callback"
)

// provider is an identity provider in this process, at which one person is signed in.
type provider struct {
	url string
	key *rsa.PrivateKey
	now func() time.Time

	mu     sync.Mutex
	codes  map[string]url.Values // what was asked for, by the code, until it is used
	claims map[string]any        // of the person, in the token
	info   map[string]any        // of the person, when asked for more; nil for nobody to ask
	forge  *rsa.PrivateKey       // signs in place of the key that is published
	down   bool
}

func newProvider(t *testing.T, now func() time.Time) *provider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &provider{key: key, now: now, codes: map[string]url.Values{}, claims: map[string]any{
		"sub": "person-1", "email": "Ada@acme.example", "email_verified": true, "name": "Ada", "groups": []string{"dev"},
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL

	return p
}

// set changes what the provider says of the person; nil takes a claim away.
func (p *provider) set(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.claims, claims)
	maps.DeleteFunc(p.claims, func(_ string, value any) bool { return value == nil })
}

// setDown has every request fail, or none.
func (p *provider) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// authorize is what a browser does that is sent to the provider: it returns the query
// that it comes back with.
func (p *provider) authorize(t *testing.T, address string) url.Values {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	q := u.Query()
	assert.Equal(t, p.url+"/authorize", u.Scheme+"://"+u.Host+u.Path)
	assert.Equal(t, clientID, q.Get("client_id"))
	assert.Equal(t, redirectURL, q.Get("redirect_uri"))
	assert.Equal(t, "code", q.Get("response_type"))
	assert.Equal(t, "S256", q.Get("code_challenge_method"))
	assert.Equal(t, "openid email profile groups", q.Get("scope"))
	assert.NotEmpty(t, q.Get("nonce"))

	code := rand.Text()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codes[code] = q

	return url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.url}}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (p *provider) discovery(w http.ResponseWriter, _ *http.Request) {
	says := map[string]any{
		"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token",
		"jwks_uri": p.url + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
	}
	if p.info != nil {
		says["userinfo_endpoint"] = p.url + "/userinfo"
	}
	answer(w, http.StatusOK, says)
}

func (p *provider) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: p.key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"},
	}})
}

// token changes a code for a token, once, for who began.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	asked, ok := p.codes[r.PostForm.Get("code")]
	delete(p.codes, r.PostForm.Get("code"))
	id, secret, _ := r.BasicAuth()
	challenge := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	if !ok || id != clientID || secret != clientSecret || r.PostForm.Get("redirect_uri") != redirectURL ||
		base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") {
		answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}

	claims := map[string]any{
		"iss": p.url, "aud": clientID, "iat": p.now().Unix(), "exp": p.now().Add(time.Minute).Unix(),
		"nonce": asked.Get("nonce"),
	}
	maps.Copy(claims, p.claims)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: cmp.Or(p.forge, p.key)},
		(&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		panic(err)
	}
	signed, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err)
	}
	answer(w, http.StatusOK, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": signed})
}

func (p *provider) userInfo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer access" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer(w, http.StatusOK, p.info)
}
