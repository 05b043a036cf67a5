package web

import (
	"net/url"
	"time"

	"github.com/prwarden/prwarden/internal/account"
	"github.com/prwarden/prwarden/internal/errs"
)

func queryEscape(s string) string { return url.QueryEscape(s) }

// home leads to the organization that a person was in last, or is a member of.
func (h *Handler) home(v *visit) error {
	if len(v.account.Memberships) == 0 {
		return h.show(v, "No organization", "", noOrganizationBody())
	}
	to := v.account.Memberships[0].Organization
	if c, err := v.r.Cookie(lastCookie); err == nil {
		for _, m := range v.account.Memberships {
			if m.Organization == c.Value {
				to = c.Value
			}
		}
	}
	h.redirect(v, "/o/"+to+"/")

	return nil
}

// lastCookie names the organization that a person was in last.
const lastCookie = "prwarden-organization"

// organizationHome leads to the first page of an organization.
func (h *Handler) organizationHome(v *visit) error {
	h.setCookie(v.w, lastCookie, v.org, 180*24*time.Hour)
	first := append(entries(v, false), entries(v, true)...)
	if len(first) == 0 {
		return errNoPage
	}
	h.redirect(v, v.here(first[0].path))

	return nil
}

func (h *Handler) signInPage(v *visit) error {
	next := ownPath(v.r.URL.Query().Get("next"))
	if token := h.sessionToken(v.r); token != "" {
		if _, err := h.signedInAs(v, token); err == nil {
			h.redirect(v, next)
			return nil
		} else if errs.KindOf(err) == errs.ResourceExhausted {
			return err
		}
	}
	if some, err := h.Accounts.HasUsers(v.ctx()); err != nil || !some {
		if err == nil {
			h.redirect(v, "/setup")
		}

		return err
	}

	return h.showBare(v, "Sign in", signInBody(h.signInForm(next)))
}

func (h *Handler) signIn(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	f := h.signInForm(ownPath(v.r.PostForm.Get("next")))
	f.Email = v.r.PostForm.Get("email")
	token, err := h.Accounts.SignIn(v.ctx(), v.from, f.Email, v.r.PostForm.Get("password"))
	if err != nil {
		p := problemOf(v.ctx(), err)
		f.Problem = p.Text
		return h.showStatus(v, p.Code, page{Title: "Sign in", Bare: true}, signInBody(f))
	}

	return h.signedIn(v, token, f.Next)
}

func (h *Handler) signOut(v *visit) error {
	if err := h.Sessions.End(v.ctx(), v.token); err != nil {
		return err
	}
	h.setCookie(v.w, h.cookieName(), "", 0)
	h.redirect(v, "/sign-in")

	return nil
}

func badForm(err error) error {
	return errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument, "The form can't be read: %v.", err)
}

func (h *Handler) setUpPage(v *visit) error {
	token := v.r.URL.Query().Get("token")
	if token == "" {
		return h.showSetUpHelp(v)
	}
	if err := h.Accounts.CheckSetUp(v.ctx(), token); err != nil {
		return err
	}

	names, err := h.Organizations(v.ctx())
	if err != nil {
		return err
	}

	return h.showBare(v, "Set up", setUpBody(personForm{Token: token, Organizations: names}))
}

// showSetUpHelp says where the address is that makes the first user. Who reads it may be
// a stranger, so the address itself is in the log only.
func (h *Handler) showSetUpHelp(v *visit) error {
	some, err := h.Accounts.HasUsers(v.ctx())
	if err != nil {
		return err
	}
	if some {
		h.redirect(v, "/")
		return nil
	}

	return h.showBare(v, "Set up", setUpHelpBody(h.SSO != nil && h.SSO.Only()))
}

// setUpCommand is the line that makes the first user.
func setUpCommand(providerOnly bool) string {
	line := "prwarden users create --role owner \\\n  --organization ORGANIZATION \\\n" +
		"  --email you@example.com \\\n  --name \"Your name\""
	if providerOnly {
		return line
	}

	return line + " --password"
}

func (h *Handler) setUp(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	f := personForm{
		Token: in.Get("token"), Email: in.Get("email"), Name: in.Get("name"), Organization: in.Get("organization"),
	}
	session, err := h.Accounts.SetUp(v.ctx(), v.from, f.Token, f.Organization, account.Person{
		Email: f.Email, Name: f.Name, Password: in.Get("password"),
	})
	if errs.KindOf(err) == errs.InvalidArgument && err != nil {
		p := problemOf(v.ctx(), err)
		f.Problem = p.Text
		if f.Organizations, err = h.Organizations(v.ctx()); err != nil {
			return err
		}

		return h.showStatus(v, p.Code, page{Title: "Set up", Bare: true}, setUpBody(f))
	}
	if err != nil {
		return err
	}

	return h.signedIn(v, session, "/")
}

func (h *Handler) resetPage(v *visit) error {
	token := v.r.URL.Query().Get("token")
	u, err := h.Accounts.CheckReset(v.ctx(), token)
	if err != nil {
		return err
	}

	return h.showBare(v, "Set a new password", resetBody(token, u.Email, ""))
}

func (h *Handler) reset(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	token := v.r.PostForm.Get("token")
	session, err := h.Accounts.Reset(v.ctx(), v.from, token, v.r.PostForm.Get("password"))
	if errs.KindOf(err) == errs.InvalidArgument && err != nil {
		p := problemOf(v.ctx(), err)
		body := resetBody(token, v.r.PostForm.Get("username"), p.Text)
		return h.showStatus(v, p.Code, page{Title: "Set a new password", Bare: true}, body)
	}
	if err != nil {
		return err
	}

	return h.signedIn(v, session, "/")
}

// invited returns what a page shows of an invitation.
func (h *Handler) invited(v *visit, token string) (i invitationView, err error) {
	found, known, err := h.Accounts.Invitation(v.ctx(), token)
	if err != nil {
		return invitationView{}, err
	}
	i = invitationView{
		Token: token, Organization: found.Organization, Role: string(found.Role), Email: found.Email, Known: known,
	}
	if session := h.sessionToken(v.r); session != "" {
		v.caller, err = h.signedInAs(v, session)
		i.SignedIn = err == nil
	}

	return i, nil
}

func (h *Handler) invitationPage(v *visit) error {
	i, err := h.invited(v, v.r.URL.Query().Get("token"))
	if err != nil {
		return err
	}

	return h.showBare(v, "Join "+i.Organization, invitationBody(i))
}

func (h *Handler) acceptInvitation(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	i, err := h.invited(v, in.Get("token"))
	if err != nil {
		return err
	}
	if i.Known {
		if err := h.Accounts.AcceptAs(v.ctx(), v.from, v.caller, i.Token); err != nil {
			return err
		}
		h.redirect(v, "/o/"+i.Organization+"/")

		return nil
	}

	session, err := h.Accounts.Accept(v.ctx(), v.from, i.Token, in.Get("name"), in.Get("password"))
	if errs.KindOf(err) == errs.InvalidArgument && err != nil {
		p := problemOf(v.ctx(), err)
		i.Name, i.Problem = in.Get("name"), p.Text
		return h.showStatus(v, p.Code, page{Title: "Join " + i.Organization, Bare: true}, invitationBody(i))
	}
	if err != nil {
		return err
	}

	return h.signedIn(v, session, "/o/"+i.Organization+"/")
}

// setTheme keeps whether pages are dark or light.
func (h *Handler) setTheme(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	if theme := v.r.PostForm.Get("theme"); theme == "dark" || theme == "light" {
		h.setCookie(v.w, "prwarden-theme", theme, 400*24*time.Hour)
	}
	h.redirect(v, returnTo(v.r))

	return nil
}
