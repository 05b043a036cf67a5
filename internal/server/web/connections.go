package web

import (
	"net/http"
	"slices"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

func (h *Handler) connectionRoutes() {
	const one = "/o/{org}/settings/connections/{id}"
	h.person("GET /o/{org}/settings/connections", h.connectionsPage)
	h.person("POST /o/{org}/settings/connections", h.createConnection)
	h.person("GET /o/{org}/settings/connections/new", h.newConnectionPage)
	h.person("GET "+one, h.connectionPage)
	h.person("POST "+one, h.updateConnection)
	h.person("POST "+one+"/test", h.testConnection)
	h.person("POST "+one+"/rotate", h.rotateConnection)
	h.person("POST "+one+"/delete", h.deleteConnection)
	h.person("GET "+one+"/repositories", h.connectionRepositories)
	h.person("GET "+one+"/pulls", h.connectionPulls)
	h.person("POST "+one+"/pulls", h.republish)
}

func (h *Handler) connectionsPage(v *visit) error {
	list, err := h.calls.hosts.ListConnections(v.ctx(), &prwardenv1.ListConnectionsRequest{})
	if err != nil {
		return err
	}

	return h.show(v, "Connections", "connections", connectionsBody(h, v, list.GetConnections()))
}

// connection reads the connection of the address.
func (h *Handler) connection(v *visit) (*prwardenv1.Connection, error) {
	got, err := h.calls.hosts.GetConnection(v.ctx(), &prwardenv1.GetConnectionRequest{ConnectionId: v.r.PathValue("id")})

	return got.GetConnection(), err
}

func (h *Handler) connectionPage(v *visit) error {
	return h.showConnection(v, http.StatusOK, connectionView{Delete: v.r.URL.Query().Has("delete")})
}

func (h *Handler) showConnection(v *visit, code int, c connectionView) (err error) {
	if c.Connection == nil {
		if c.Connection, err = h.connection(v); err != nil {
			return err
		}
	}
	c.Kind, c.URL = hostKindOf(c.Connection), h.hookAddress(v, c.Connection)

	return h.showStatus(v, code, page{Title: c.Connection.GetName(), Section: "connections"}, connectionBody(h, v, c))
}

// connectionFailed shows what a call refused beside its form.
func (h *Handler) connectionFailed(v *visit, form string, err error) error {
	code, text, ok := formProblemOf(v, err)
	if !ok {
		return err
	}

	return h.showConnection(v, code, connectionView{Problem: text, In: form})
}

// connectionDone leads to the page of the connection, which says what was done.
func (h *Handler) connectionDone(v *visit, f flash) error {
	h.leaveFlash(v, f)
	h.redirect(v, v.here("/settings/connections/"+v.r.PathValue("id")))

	return nil
}

func (h *Handler) updateConnection(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	req := &prwardenv1.UpdateConnectionRequest{
		ConnectionId: v.r.PathValue("id"), Name: filled(in.Get("name")), Repositories: lines(in.Get("repositories")),
		Account: filled(in.Get("account")), InstallationId: numberField(in.Get("installation_id")),
	}
	if _, err := h.calls.hosts.UpdateConnection(v.ctx(), req); err != nil {
		return h.connectionFailed(v, "change", err)
	}

	return h.connectionDone(v, flash{Text: "The connection is changed."})
}

func (h *Handler) testConnection(v *visit) error {
	tested, err := h.calls.hosts.TestConnection(v.ctx(), &prwardenv1.TestConnectionRequest{
		ConnectionId: v.r.PathValue("id"),
	})
	if err != nil {
		p := problemOf(v.ctx(), err)
		if p.Code != http.StatusServiceUnavailable {
			return err
		}

		return h.connectionDone(v, flash{Text: p.Text, Bad: true})
	}

	return h.connectionDone(v, testWords(tested.GetConnection()))
}

// testWords says what a test found. The page of the connection has the details.
func testWords(c *prwardenv1.Connection) flash {
	switch {
	case c.GetState() != prwardenv1.Connection_active:
		return flash{Text: "The test found that it doesn't work. What to do is said below.", Bad: true}
	case len(c.GetMissingPermissions()) > 0:
		return flash{Text: "The host answers, but the credentials lack permissions, which are named below.", Bad: true}
	case c.GetAccount() != "":
		return flash{Text: "It works, as " + shown(c.GetAccount()) + ", with all permissions that can be asked for."}
	}

	return flash{Text: "It works, with all permissions that can be asked for."}
}

// rotateConnection gives a connection other secrets.
func (h *Handler) rotateConnection(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	made, err := h.calls.hosts.RotateConnectionSecret(v.ctx(), &prwardenv1.RotateConnectionSecretRequest{
		ConnectionId: v.r.PathValue("id"), Token: filled(in.Get("token")), GitToken: filled(in.Get("git_token")),
		PrivateKey: filled(in.Get("private_key")), WebhookSecret: filled(in.Get("webhook_secret")),
		NewWebhookSecret: in.Get("new_webhook_secret") != "",
	})
	if err != nil {
		return h.connectionFailed(v, "rotate", err)
	}
	if made.GetWebhookSecret() == "" {
		return h.connectionDone(v, flash{Text: "The credentials are replaced. Test the connection now."})
	}

	return h.showConnection(v, http.StatusOK, connectionView{
		Connection: made.GetConnection(), Secret: made.GetWebhookSecret(),
	})
}

func (h *Handler) deleteConnection(v *visit) error {
	req := &prwardenv1.DeleteConnectionRequest{ConnectionId: v.r.PathValue("id")}
	if _, err := h.calls.hosts.DeleteConnection(v.ctx(), req); err != nil {
		return h.connectionFailed(v, "delete", err)
	}
	h.leaveFlash(v, flash{Text: "The connection is deleted. Take its webhook out at the host, too."})
	h.redirect(v, v.here("/settings/connections"))

	return nil
}

// connectionRepositories lists what the credentials reach, which the host says now.
func (h *Handler) connectionRepositories(v *visit) error {
	c, err := h.connection(v)
	if err != nil {
		return err
	}
	r := repositoriesView{Connection: c}
	list, err := h.calls.hosts.ListConnectionRepositories(v.ctx(), &prwardenv1.ListConnectionRepositoriesRequest{
		ConnectionId: c.GetConnectionId(),
	})
	code := http.StatusOK
	if err != nil {
		p := problemOf(v.ctx(), err)
		if p.Code != http.StatusConflict && p.Code != http.StatusServiceUnavailable {
			return err
		}
		code, r.Problem = p.Code, p.Text
	}
	r.Repositories = list.GetRepositories()

	return h.showStatus(v, code, page{Title: "Repositories of " + c.GetName(), Section: "connections"},
		repositoriesBody(v, r))
}

// connectionPulls lists pull requests that the host told of.
func (h *Handler) connectionPulls(v *visit) error {
	c, err := h.connection(v)
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	p := pullsView{Connection: c, State: q.Get("state"), Page: q.Get("page")}
	req := &prwardenv1.ListPullRequestsRequest{ConnectionId: &c.ConnectionId, PageToken: filled(p.Page)}
	if n, ok := prwardenv1.PullRequest_State_value[p.State]; ok && n != 0 {
		req.State = prwardenv1.PullRequest_State(n).Enum()
	}
	list, err := h.calls.pulls.ListPullRequests(v.ctx(), req)
	if err != nil {
		return err
	}
	p.Pulls, p.Next = list.GetPullRequests(), list.GetNextPageToken()

	return h.show(v, "Pull requests of "+c.GetName(), "connections", pullsBody(h, v, p))
}

func (h *Handler) republish(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	req := &prwardenv1.RepublishPullRequestRequest{Repo: in.Get("repo")}
	if n := numberField(in.Get("number")); n != nil {
		req.PrNumber = *n
	}
	if _, err := h.calls.pulls.RepublishPullRequest(v.ctx(), req); err != nil {
		return err
	}
	h.leaveFlash(v, flash{Text: "The newest review of " + shown(req.GetRepo()) + " #" + in.Get("number") +
		" is published again."})
	h.redirect(v, v.here("/settings/connections/"+v.r.PathValue("id")+"/pulls"))

	return nil
}

// mayChangeConnection reports whether the person may change a connection here: not one of
// the operator.
func mayChangeConnection(v *visit, c *prwardenv1.Connection) bool {
	return v.has(auth.HostsWrite) && !c.GetDeclared() && !c.GetTrusted()
}

// whoseConnection says where a connection is changed that this page can't change.
func whoseConnection(v *visit, c *prwardenv1.Connection) string {
	switch {
	case c.GetDeclared():
		return "It is in the configuration file of the server: the operator changes it there."
	case c.GetTrusted():
		return "The operator made it on the command line, and changes it there: `prwarden connections update " +
			c.GetName() + " --org " + v.org + "`."
	}

	return "To change it you need the role admin."
}

// connectionState is the state in words, with the class of its pill.
func connectionState(c *prwardenv1.Connection) (word, class string) {
	switch {
	case c.GetState() == prwardenv1.Connection_active && len(c.GetMissingPermissions()) > 0:
		return "permissions missing", "fail"
	case c.GetState() == prwardenv1.Connection_active && c.GetTestedAt() == nil:
		return "not tested yet", "wait"
	case c.GetState() == prwardenv1.Connection_active:
		return "works", "pass"
	}

	return c.GetState().String(), "fail"
}

// publicationWords say how far publishing is; bad when it fails.
func (h *Handler) publicationWords(p *prwardenv1.PullRequest_Publication) (text string, bad bool) {
	var parts []string
	if p.GetPublishedAt() != nil {
		parts = append(parts, "published "+agoOf(h.Now(), p.GetPublishedAt()))
	}
	if p.GetPending() {
		parts = append(parts, "more is waiting")
	}
	if n := int(p.GetFailures()); n > 0 {
		parts = append(parts, "failed "+plural(n, "time", "times")+" in a row")
	}
	if len(parts) == 0 {
		parts = []string{"nothing yet"}
	}

	return strings.Join(slices.Compact(parts), ", "), p.GetFailures() > 0 || p.GetProblem() != ""
}
