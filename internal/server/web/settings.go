package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// settingsRoutes are the pages of settings, but for API keys.
func (h *Handler) settingsRoutes() {
	h.person("GET /o/{org}/settings/members", h.membersPage)
	h.person("POST /o/{org}/settings/members/role", h.changeRole)
	h.person("POST /o/{org}/settings/members/remove", h.removeMember)
	h.person("POST /o/{org}/settings/members/reset", h.linkPassword)
	h.person("POST /o/{org}/settings/invitations", h.invite)
	h.person("POST /o/{org}/settings/invitations/revoke", h.revokeInvitation)

	h.person("GET /o/{org}/settings/sso", h.ssoPage)
	h.person("GET /o/{org}/settings/sso/try", h.trySSO)

	h.person("GET /o/{org}/go", h.goPage)
	h.person("GET /o/{org}/audit", h.auditPage)
	h.person("GET /o/{org}/audit/events.jsonl", h.auditFile)

	h.connectionRoutes()
	h.webhookRoutes()
}

// formProblemOf returns what a form shows when a call refused what it had. Other errors
// have a page of their own.
func formProblemOf(v *visit, err error) (code int, text string, ok bool) {
	p := problemOf(v.ctx(), err)

	return p.Code, p.Text, p.Code == http.StatusBadRequest || p.Code == http.StatusConflict
}

// once is a secret that is shown this once only.
type once struct {
	Title  string
	Hint   string
	Secret string
}

// namesOf returns the names of people and keys by how events call them, such as
// `user:usr_01k9`, as far as the person may know them.
func (h *Handler) namesOf(v *visit) (map[string]string, error) {
	names := map[string]string{"user:" + v.caller.UserID: v.account.User.Name}
	if v.has(auth.ReviewsRead) {
		list, err := h.calls.members.ListMemberNames(v.ctx(), &prwardenv1.ListMemberNamesRequest{})
		if err != nil {
			return nil, err
		}
		for _, m := range list.GetMembers() {
			names["user:"+m.GetUserId()] = m.GetName()
		}
	}
	if v.has(auth.KeysAdmin) {
		list, err := h.calls.keys.ListKeys(v.ctx(), &prwardenv1.ListKeysRequest{})
		if err != nil {
			return nil, err
		}
		for _, k := range list.GetKeys() {
			names["key:"+k.GetKeyId()] = k.GetName()
		}
	}

	return names, nil
}

// nameOf is the name of who did something; how events call him where none is known.
func nameOf(names map[string]string, actor string) string {
	if name := names[actor]; name != "" {
		return shown(name)
	}

	return shown(actor)
}

// people are those of names who are people, to choose from, by name.
func people(names map[string]string) (out []choice) {
	for actor, name := range names {
		if strings.HasPrefix(actor, "user:") {
			out = append(out, choice{actor, shown(name)})
		}
	}
	slices.SortFunc(out, func(a, b choice) int {
		return cmp.Or(cmp.Compare(a.label, b.label), cmp.Compare(a.value, b.value))
	})

	return out
}

// notFound reports whether a call found nothing.
func notFound(err error) bool { return status.Code(err) == codes.NotFound }

// lines returns the lines of a text without blank ones.
func lines(text string) (out []string) {
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' }) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}

	return out
}

// filled returns what a field of a form has, nil when it is empty.
func filled(text string) *string { return given(strings.TrimSpace(text)) }
