package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// choice is a line of a list to choose from.
type choice struct{ value, label string }

// keyLives are how long a new key may work, in days.
var keyLives = []choice{{"30", "in 30 days"}, {"180", "in 180 days"}, {"365", "in 1 year"}, {"", "never"}}

// scopeWords are what each scope allows.
var scopeWords = []struct{ name, does string }{
	{"reviews:read", "Read reviews and findings"},
	{"reviews:write", "Start and cancel reviews"},
	{"rules:read", "Read and try rules"},
	{"rules:write", "Create, change and delete rules"},
	{"policy:read", "Read the policy"},
	{"policy:write", "Change the policy"},
	{"findings:triage", "Decide about findings"},
	{"source:read", "Read source around findings"},
	{"hosts:read", "Read connections"},
	{"hosts:write", "Change connections"},
	{"webhooks:read", "Read webhooks"},
	{"webhooks:write", "Change webhooks"},
	{"audit:read", "Read the audit log"},
	{"members:admin", "Manage members"},
	{"keys:admin", "Manage API keys"},
	{"organization:admin", "Manage the organization"},
}

// scopesOf are the scopes that the person can give.
func scopesOf(v *visit) (out []struct{ name, does string }) {
	for _, s := range scopeWords {
		if v.has(auth.Scope(s.name)) {
			out = append(out, s)
		}
	}

	return out
}

func (h *Handler) keysPage(v *visit) error {
	return h.showKeys(v, http.StatusOK, keysView{Revoke: v.r.URL.Query().Get("revoke")})
}

func (h *Handler) showKeys(v *visit, code int, k keysView) error {
	list, err := h.calls.keys.ListKeys(v.ctx(), &prwardenv1.ListKeysRequest{})
	if err != nil {
		return err
	}
	k.Keys, k.Server = list.GetKeys(), h.origin(v.r)
	if k.Scopes == nil {
		k.Scopes = map[string]bool{"reviews:read": true, "reviews:write": true}
	}

	return h.showStatus(v, code, page{Title: "API Keys", Section: "keys"}, keysBody(h, v, k))
}

func (h *Handler) createKey(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	req := &prwardenv1.CreateKeyRequest{Name: in.Get("name"), Scopes: in["scopes"]}
	if problem := h.readKeyForm(in, req); problem != "" {
		return h.refuseKey(v, http.StatusBadRequest, req, problem)
	}
	made, err := h.calls.keys.CreateKey(v.ctx(), req)
	if err != nil {
		p := problemOf(v.ctx(), err)
		if p.Code != http.StatusBadRequest && p.Code != http.StatusConflict {
			return err
		}

		return h.refuseKey(v, p.Code, req, p.Text)
	}

	// The token is in this answer only: a page that is loaded again doesn't have it.
	return h.showKeys(v, http.StatusCreated, keysView{Token: made.GetToken(), Made: req.GetName()})
}

// readKeyForm reads what has to be chosen for a key, which the call would choose by
// itself where nothing is. It returns what is wrong.
func (h *Handler) readKeyForm(in url.Values, req *prwardenv1.CreateKeyRequest) (problem string) {
	if len(req.GetScopes()) == 0 {
		return "Choose at least one thing that the key may do."
	}
	expires := in.Get("expires")
	if !slices.ContainsFunc(keyLives, func(c choice) bool { return c.value == expires }) {
		return "Choose when the key expires."
	}
	if days, err := strconv.Atoi(expires); err == nil {
		req.ExpiresAt = timestamppb.New(h.Now().AddDate(0, 0, days))
	}

	return ""
}

// refuseKey shows the form again as it was sent.
func (h *Handler) refuseKey(v *visit, code int, req *prwardenv1.CreateKeyRequest, problem string) error {
	k := keysView{Problem: problem, Name: req.GetName(), Scopes: map[string]bool{}}
	for _, s := range req.GetScopes() {
		k.Scopes[s] = true
	}

	return h.showKeys(v, code, k)
}

func (h *Handler) revokeKey(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	id := v.r.PostForm.Get("id")
	if _, err := h.calls.keys.DeleteKey(v.ctx(), &prwardenv1.DeleteKeyRequest{KeyId: id}); err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "The key is revoked. It is refused everywhere within 5 seconds."})
	h.redirect(v, v.here("/settings/keys"))

	return nil
}

// origin is where a browser reached this server.
func (h *Handler) origin(r *http.Request) string {
	if h.Secure {
		return "https://" + r.Host
	}

	return "http://" + r.Host
}

// tryKey are lines that use a key.
func tryKey(server, token string) string {
	return "export PRWARDEN_API_KEY=" + token + "\n" +
		"prwarden review OWNER/REPOSITORY NUMBER --server " + server + "\n\n" +
		"curl -H \"Authorization: Bearer $PRWARDEN_API_KEY\" " + server + "/v1/reviews"
}

func works(k *prwardenv1.Key) bool { return k.GetState() == prwardenv1.Key_active }

func keyEnd(k *prwardenv1.Key) string {
	if k.GetRevokedAt() != nil {
		return "Revoked"
	}

	return "Expires"
}

func keyEndAt(k *prwardenv1.Key) *timestamppb.Timestamp {
	if k.GetRevokedAt() != nil {
		return k.GetRevokedAt()
	}

	return k.GetExpiresAt()
}

// endsSoon reports whether a key that works ends within two weeks.
func endsSoon(now time.Time, k *prwardenv1.Key) bool {
	return works(k) && k.GetExpiresAt() != nil && k.GetExpiresAt().AsTime().Sub(now) < 14*24*time.Hour
}
