package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

// auditActions are what can be done, in words, in the order of the list to choose from.
var auditActions = []choice{
	{"key.create", "created an API key"},
	{"key.revoke", "revoked an API key"},
	{"rule.create", "created a rule"},
	{"rule.update", "changed a rule"},
	{"rule.delete", "deleted a rule"},
	{"rule.push", "pushed rules"},
	{"policy.update", "changed the policy"},
	{"finding.triage", "decided about findings"},
	{"finding.triage.undo", "took a decision back"},
	{"publication.repeat", "published a review again"},
	{"connection.create", "made a connection"},
	{"connection.setup", "began to make a GitHub App"},
	{"connection.update", "changed a connection"},
	{"connection.rotate", "replaced secrets of a connection"},
	{"connection.delete", "deleted a connection"},
	{"webhook.create", "made a webhook"},
	{"webhook.update", "changed a webhook"},
	{"webhook.rotate", "replaced the secret of a webhook"},
	{"webhook.delete", "deleted a webhook"},
	{"connection.reseal", "sealed secrets of a connection with another key"},
	{"webhook.reseal", "sealed the secret of a webhook with another key"},
	{"invitation.create", "invited somebody"},
	{"invitation.revoke", "revoked an invitation"},
	{"member.add", "added a member"},
	{"member.role", "changed the role of a member"},
	{"member.remove", "removed a member"},
	{"user.create", "made an account"},
	{"user.password", "changed a password"},
	{"user.name", "changed their name"},
	{"user.reset", "made a link for a forgotten password"},
	{"user.link", "linked an account with single sign-on"},
	{"user.disable", "disabled an account"},
	{"user.enable", "enabled an account"},
	{"user.remove", "removed an account"},
	{"session.create", "signed in"},
	{"session.revoke", "ended a session"},
	{"organization.create", "made the organization"},
	{"organization.update", "changed the organization"},
	{"organization.remove", "removed the organization"},
}

// auditWords says what was done; the action itself where there are no words for it.
func auditWords(action string) string {
	for _, a := range auditActions {
		if a.value == action {
			return a.label
		}
	}

	return action
}

// auditPlaces are the pages of what events change, by the first word of the action, with
// what goes before the target in the address; "-" where the page has no place for it.
var auditPlaces = map[string]struct{ section, before string }{
	"key":        {"keys", "#"},
	"rule":       {"rules", "-"},
	"policy":     {"policy", "-"},
	"connection": {"connections", "/"},
	"webhook":    {"webhooks", "/"},
	"member":     {"members", "#"},
	"invitation": {"members", "-"},
}

// auditPlace is the address of the page of what an event changed; "" where there is none
// that the person may see, or not any more.
func auditPlace(v *visit, e *prwardenv1.AuditEvent) string {
	of, did, _ := strings.Cut(e.GetAction(), ".")
	place, ok := auditPlaces[of]
	if !ok || did == "delete" || did == "remove" {
		return ""
	}
	for _, entry := range append(entries(v, false), entries(v, true)...) {
		switch {
		case entry.section != place.section:
		case place.before == "-":
			return v.here(entry.path)
		default:
			return v.here(entry.path + place.before + url.PathEscape(e.GetTarget()))
		}
	}

	return ""
}

// auditFilter is which events are asked for, as the form has it.
type auditFilter struct{ Action, Actor, Since, Until string }

func auditFilterOf(q url.Values) auditFilter {
	return auditFilter{q.Get("action"), strings.TrimSpace(q.Get("actor")), q.Get("since"), q.Get("until")}
}

// query is the filter as a part of an address.
func (f auditFilter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{
		"action": f.Action, "actor": f.Actor, "since": f.Since, "until": f.Until,
	} {
		if value != "" {
			q.Set(name, value)
		}
	}

	return q
}

// at is the address of a page with the filter, and more.
func (f auditFilter) at(v *visit, path string, more ...string) string {
	q := f.query()
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return v.here(path)
	}

	return v.here(path) + "?" + q.Encode()
}

// by is the same filter with the events of one actor only.
func (f auditFilter) by(actor string) auditFilter {
	f.Actor = actor

	return f
}

// request is the call that the filter asks for. Until is a day that counts.
func (f auditFilter) request() (*prwardenv1.ListEventsRequest, error) {
	req := &prwardenv1.ListEventsRequest{Action: filled(f.Action), Actor: filled(f.Actor)}
	for _, d := range []struct {
		name, text string
		to         **timestamppb.Timestamp
		days       int
	}{{"From", f.Since, &req.Since, 0}, {"To", f.Until, &req.Until, 1}} {
		if d.text == "" {
			continue
		}
		t, err := time.Parse(time.DateOnly, d.text)
		if err != nil {
			return nil, errs.New(errs.InvalidArgument, errs.ReasonInvalidArgument,
				"%s: %q is not a day such as 2026-11-20.", d.name, d.text)
		}
		*d.to = timestamppb.New(t.AddDate(0, 0, d.days))
	}

	return req, nil
}

// dayValue is what a field for a day shows: nothing that browsers don't take for one.
func dayValue(text string) string {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return ""
	}

	return text
}

// auditPageSize is how many events a page shows.
const auditPageSize = 50

func (h *Handler) auditPage(v *visit) error {
	q := v.r.URL.Query()
	a := auditView{Filter: auditFilterOf(q), Page: q.Get("page")}
	code, err := http.StatusOK, h.listEvents(v, &a)
	if err != nil {
		var ok bool
		if code, a.Problem, ok = formProblemOf(v, err); !ok {
			return err
		}
	}
	if a.Names, err = h.namesOf(v); err != nil {
		return err
	}

	return h.showStatus(v, code, page{Title: "Audit log", Section: "audit"}, auditBody(v, a))
}

func (h *Handler) listEvents(v *visit, a *auditView) error {
	req, err := a.Filter.request()
	if err != nil {
		return err
	}
	size := int32(auditPageSize)
	req.PageSize, req.PageToken = &size, filled(a.Page)
	list, err := h.calls.audit.ListEvents(v.ctx(), req)
	if err != nil {
		return err
	}
	a.Events, a.Next = list.GetEvents(), list.GetNextPageToken()

	return nil
}

// auditFile answers all events of the filter, each as a line of JSON, as the API writes
// them.
func (h *Handler) auditFile(v *visit) error {
	req, err := auditFilterOf(v.r.URL.Query()).request()
	if err != nil {
		return err
	}
	size := int32(1000)
	req.PageSize = &size
	list, err := h.calls.audit.ListEvents(v.ctx(), req)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	v.w.Header().Set("Content-Disposition", `attachment; filename="audit-`+v.org+`.jsonl"`)
	// A browser may take its time for all events, but not for a part of them.
	control := http.NewResponseController(v.w)
	_ = control.SetReadDeadline(time.Time{}) // it would end the request when it passes
	releaseWork(v)
	for {
		_ = control.SetWriteDeadline(time.Now().Add(eventTimeout)) // where there is none, none passes
		if err := writeEvents(v.w, list.GetEvents()); err != nil {
			panic(http.ErrAbortHandler) // the browser is gone
		}
		next := list.GetNextPageToken()
		if next == "" {
			return nil
		}
		req.PageToken = &next
		if list, err = h.calls.audit.ListEvents(v.ctx(), req); err != nil {
			h.Log.Error("the audit log can't be written to its end", "error", err)
			panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
		}
	}
}

// writeEvents writes events as lines of JSON.
func writeEvents(w http.ResponseWriter, events []*prwardenv1.AuditEvent) error {
	options := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}
	var out bytes.Buffer
	for _, e := range events {
		text, err := options.Marshal(e)
		if err != nil {
			return err
		}
		if err = json.Compact(&out, text); err != nil { // protojson's blanks are not always the same
			return err
		}
		out.WriteByte('\n')
	}
	_, err := w.Write(out.Bytes())

	return err
}

// actorKind says in words what kind of actor it is.
func actorKind(actor string) string {
	kind, id, _ := strings.Cut(actor, ":")
	switch kind {
	case "user":
		return "person"
	case "key":
		return "API key"
	case "cli":
		return "operator, on the command line"
	case "host":
		host, _, _ := strings.Cut(id, ":")
		return "by a comment at " + host
	case "system":
		return "by itself"
	}

	return kind
}

// actorName is the name of an actor, or the rest of its word.
func actorName(names map[string]string, actor string) string {
	if name := names[actor]; name != "" {
		return shown(name)
	}
	if actor == "system" {
		return "The server"
	}
	_, id, _ := strings.Cut(actor, ":")

	return shown(id)
}

// fewFields reports whether the fields of an event are few and small enough for a line.
func fewFields(fields []*prwardenv1.AuditEvent_Field) bool {
	total := 0
	for _, f := range fields {
		total += len(f.GetName()) + len(f.GetBefore()) + len(f.GetAfter())
	}

	return len(fields) <= 3 && total <= 160
}
