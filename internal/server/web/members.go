package web

import (
	"net/http"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/auth"
)

// roleWords are what each role allows, the weakest first.
var roleWords = []struct {
	role prwardenv1.Role_Name
	does string
}{
	{prwardenv1.Role_viewer, "reads reviews, rules and the policy"},
	{prwardenv1.Role_member, "starts reviews, decides about findings, sees source code"},
	{prwardenv1.Role_admin, "manages rules, the policy, keys, members, connections and webhooks"},
	{prwardenv1.Role_owner, "manages the organization itself"},
}

// givenRoles are the roles that the person may give.
func givenRoles(v *visit) (out []choice) {
	for _, r := range roleWords {
		if v.caller.MayGive(auth.Role(r.role.String())) == nil {
			out = append(out, choice{r.role.String(), r.role.String() + ": " + r.does})
		}
	}

	return out
}

// mayChange reports whether the person may change or remove a member.
func mayChange(v *visit, m *prwardenv1.Member) bool {
	return v.caller.MayGive(auth.Role(m.GetRole().String())) == nil
}

func (h *Handler) membersPage(v *visit) error {
	q := v.r.URL.Query()

	return h.showMembers(v, http.StatusOK, membersView{Open: q.Get("member"), Remove: q.Has("remove")})
}

func (h *Handler) showMembers(v *visit, code int, m membersView) error {
	list, err := h.calls.members.ListMembers(v.ctx(), &prwardenv1.ListMembersRequest{})
	if err != nil {
		return err
	}
	open, err := h.calls.members.ListInvitations(v.ctx(), &prwardenv1.ListInvitationsRequest{})
	if err != nil {
		return err
	}
	m.Members, m.Invitations, m.Names = list.GetMembers(), open.GetInvitations(), map[string]string{}
	for _, one := range m.Members {
		m.Names["user:"+one.GetUserId()] = one.GetName()
	}
	if m.Role == "" {
		m.Role = prwardenv1.Role_member.String()
	}

	return h.showStatus(v, code, page{Title: "Members", Section: "members"}, membersBody(h, v, m))
}

// membersFailed shows what a call refused beside the member that it was about.
func (h *Handler) membersFailed(v *visit, id string, err error) error {
	code, text, ok := formProblemOf(v, err)
	if !ok {
		return err
	}

	return h.showMembers(v, code, membersView{Open: id, Problem: text})
}

func (h *Handler) invite(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	email, role := v.r.PostForm.Get("email"), v.r.PostForm.Get("role")
	made, err := h.calls.members.CreateInvitation(v.ctx(), &prwardenv1.CreateInvitationRequest{
		Email: email, Role: roleNamed(role),
	})
	if err != nil {
		code, text, ok := formProblemOf(v, err)
		if !ok {
			return err
		}

		return h.showMembers(v, code, membersView{Email: email, Role: role, InviteProblem: text})
	}
	i := made.GetInvitation()

	return h.showMembers(v, http.StatusCreated, membersView{Once: &once{
		Title: i.GetEmail() + " is invited as " + i.GetRole().String(),
		Hint: "Send the link yourself: no mail is sent. It works once, until " + dayOf(i.GetExpiresAt()) +
			", and this page can't show it again.",
		Secret: h.linkTo(v, made.GetUrl(), account.InvitePath+made.GetToken()),
	}})
}

// linkTo is the address of a page for somebody else: the one that the API gives, or where
// this browser is while the operator has not said the server's.
func (h *Handler) linkTo(v *visit, given, path string) string {
	if given != "" {
		return given
	}

	return h.origin(v.r) + path
}

func (h *Handler) revokeInvitation(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	req := &prwardenv1.DeleteInvitationRequest{InvitationId: v.r.PostForm.Get("id")}
	if _, err := h.calls.members.DeleteInvitation(v.ctx(), req); err != nil && !notFound(err) {
		return err
	}

	return h.membersDone(v, "The invitation is revoked; its link doesn't work any more.")
}

// membersDone leads back to the list, which says what was done.
func (h *Handler) membersDone(v *visit, text string) error {
	h.leaveFlash(v, flash{Text: text})
	h.redirect(v, v.here("/settings/members"))

	return nil
}

func (h *Handler) changeRole(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	id := v.r.PostForm.Get("id")
	m, err := h.calls.members.UpdateMember(v.ctx(), &prwardenv1.UpdateMemberRequest{
		UserId: id, Role: roleNamed(v.r.PostForm.Get("role")),
	})
	if err != nil {
		return h.membersFailed(v, id, err)
	}

	return h.membersDone(v, m.GetMember().GetName()+" is now "+m.GetMember().GetRole().String()+
		", and has to sign in again.")
}

func (h *Handler) removeMember(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	id := v.r.PostForm.Get("id")
	if _, err := h.calls.members.RemoveMember(v.ctx(), &prwardenv1.RemoveMemberRequest{UserId: id}); err != nil {
		return h.membersFailed(v, id, err)
	}

	return h.membersDone(v, "The member is removed from "+v.org+"; the account stays.")
}

// linkPassword makes a link for somebody who forgot the password.
func (h *Handler) linkPassword(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	id := v.r.PostForm.Get("id")
	made, err := h.calls.members.CreatePasswordLink(v.ctx(), &prwardenv1.CreatePasswordLinkRequest{UserId: id})
	if err != nil {
		return h.membersFailed(v, id, err)
	}

	return h.showMembers(v, http.StatusOK, membersView{Open: id, Once: &once{
		Title: "A link to set a new password",
		Hint: "Send it to nobody else. It works once, until " + clockOf(made.GetExpiresAt()) +
			", and this page can't show it again.",
		Secret: h.linkTo(v, made.GetUrl(), account.ResetPath+made.GetToken()),
	}})
}

// roleNamed is the role of a name; nil for none, which the call refuses.
func roleNamed(name string) *prwardenv1.Role_Name {
	if n, ok := prwardenv1.Role_Name_value[name]; ok {
		return prwardenv1.Role_Name(n).Enum()
	}

	return nil
}

// signInWays says how a member can sign in.
func signInWays(m *prwardenv1.Member) string {
	switch {
	case m.GetDisabledAt() != nil:
		return "disabled " + dayOf(m.GetDisabledAt())
	case m.GetHasPassword() && m.GetHasSingleSignOn():
		return "password, single sign-on"
	case m.GetHasSingleSignOn():
		return "single sign-on"
	case m.GetHasPassword():
		return "password"
	}

	return "no way yet"
}
