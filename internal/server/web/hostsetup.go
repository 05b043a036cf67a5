package web

import (
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/auth"
)

// newConnectionPage offers the ways to connect a host, or leads through the one that was
// chosen.
func (h *Handler) newConnectionPage(v *visit) error {
	if err := v.caller.Require(auth.HostsWrite); err != nil {
		return err
	}
	id := v.r.URL.Query().Get("kind")
	if id == "" || id == "git" {
		return h.show(v, "Connect a code host", "connections", chooseHostBody(v, id == "git"))
	}
	kind, ok := hostKindNamed(id)
	if !ok {
		return errNoPage
	}

	return h.showHostForm(v, http.StatusOK, hostForm{Kind: kind, In: url.Values{"url": {kind.url}}})
}

func (h *Handler) showHostForm(v *visit, code int, f hostForm) error {
	return h.showStatus(v, code, page{Title: "Connect " + f.Kind.name, Section: "connections"}, hostFormBody(v, f))
}

// createConnection makes a connection as the form says, and shows the rest of the steps.
func (h *Handler) createConnection(v *visit) error {
	if err := v.r.ParseForm(); err != nil {
		return badForm(err)
	}
	in := v.r.PostForm
	kind, ok := hostKindNamed(in.Get("kind"))
	if !ok {
		return errNoPage
	}
	if kind.newApp {
		return h.startApp(v, kind, in)
	}

	made, err := h.calls.hosts.CreateConnection(v.ctx(), createRequest(kind, in))
	if err != nil {
		return h.hostFormFailed(v, kind, in, err)
	}
	c := made.GetConnection()

	return h.showStatus(v, http.StatusCreated, page{Title: c.GetName() + " is connected", Section: "connections"},
		connectedBody(v, connectedView{
			Connection: c, Kind: kind, URL: h.hookAddress(v, c), Secret: made.GetWebhookSecret(),
		}))
}

// hostFormFailed shows the form once more, without its secrets.
func (h *Handler) hostFormFailed(v *visit, kind hostKind, in url.Values, err error) error {
	code, text, ok := formProblemOf(v, err)
	if !ok {
		return err
	}

	return h.showHostForm(v, code, hostForm{Kind: kind, In: in, Problem: text})
}

func createRequest(kind hostKind, in url.Values) *prwardenv1.CreateConnectionRequest {
	return &prwardenv1.CreateConnectionRequest{
		Name: in.Get("name"), Kind: kind.kind.Enum(), Repositories: lines(in.Get("repositories")),
		Url: filled(in.Get("url")), ApiUrl: filled(in.Get("api_url")), GitUrl: filled(in.Get("git_url")),
		Account: filled(in.Get("account")), AppId: numberField(in.Get("app_id")),
		InstallationId: numberField(in.Get("installation_id")),
		Token:          filled(in.Get("token")), GitToken: filled(in.Get("git_token")),
		PrivateKey: filled(in.Get("private_key")),
	}
}

// numberField is what a field for a number has, nil when it is empty. The call refuses 0, which
// stands for what is no number.
func numberField(text string) *int32 {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < math.MinInt32 {
		n = 0
	}
	out := int32(n)

	return &out
}

// startApp begins to have GitHub make an App, and shows where that goes on.
func (h *Handler) startApp(v *visit, kind hostKind, in url.Values) error {
	started, err := h.calls.hosts.SetUpGitHubApp(v.ctx(), &prwardenv1.SetUpGitHubAppRequest{
		Name: in.Get("name"), Account: in.Get("account"), Personal: in.Get("personal") != "",
		Repositories: lines(in.Get("repositories")), Url: filled(in.Get("url")), ApiUrl: filled(in.Get("api_url")),
		GitUrl: filled(in.Get("git_url")),
	})
	if err != nil {
		return h.hostFormFailed(v, kind, in, err)
	}

	return h.showStatus(v, http.StatusCreated, page{Title: "Have GitHub make the App", Section: "connections"},
		appStartedBody(v, in.Get("account"), started))
}

// hookAddress is where a host delivers to: as the API says, or where this browser is
// while the operator has not said the server's address.
func (h *Handler) hookAddress(v *visit, c *prwardenv1.Connection) string {
	return h.linkTo(v, c.GetWebhookUrl(), "/hooks/"+c.GetConnectionId())
}

// webhookValue is what to enter into a field of a webhook.
func webhookValue(value, address, secret string) string {
	switch value {
	case webhookURL:
		return address
	case webhookSecret:
		return secret
	}

	return value
}

// gitOnly says what plain git servers need, which is the operator's to set.
func gitOnly(organization string) string {
	return "organizations:\n" +
		"  - name: " + organization + "\n" +
		"    repositories: [\"*/*\"]\n" +
		"    host:\n" +
		"      kind: git\n" +
		"      url: \"https://git.example.com/{repo}.git\"\n" +
		"      token_env: PRWARDEN_GIT_TOKEN"
}
