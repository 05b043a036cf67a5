package githubfake

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/prwarden/prwarden/internal/codehost/github"
)

// output is what a check run shows.
type output struct {
	Title       *string
	Summary     *string
	Text        string
	Annotations []struct {
		StartLine   int `json:"start_line"`
		EndLine     int `json:"end_line"`
		StartColumn int `json:"start_column"`
	}
}

// checkRun is a body of the operations on check runs.
type checkRun struct {
	Name       string
	HeadSHA    string  `json:"head_sha"`
	ExternalID *string `json:"external_id"`
	DetailsURL *string `json:"details_url"`
	Status     *string
	Conclusion *string
	Output     *output
}

func (r *run) object() object {
	o := object{
		"id": r.id, "head_sha": r.sha, "external_id": r.externalID, "name": r.name, "status": r.status,
		"conclusion": nil, "details_url": r.url, "app": object{"id": AppID, "slug": Slug},
		"output": object{"title": r.title, "summary": r.digest, "annotations_count": r.annotations},
	}
	if r.conclusion != "" {
		o["conclusion"] = r.conclusion
	}

	return o
}

// listRuns lists by name, App and filter. Doc: without a filter only the latest of each
// name and suite.
func (f *Fake) listRuns(q *http.Request) answer {
	if !f.app { // doc: anybody may read check runs, only Apps write them
		return ok(object{"total_count": 0, "check_runs": []object{}})
	}

	list := []object{}
	for _, r := range slices.Backward(f.runs) {
		if r.sha == q.PathValue("sha") && (q.FormValue("check_name") == "" || q.FormValue("check_name") == r.name) {
			list = append(list, r.object())
		}
		if len(list) == 1 && q.FormValue("filter") != "all" {
			break
		}
	}

	a := page(q, ok(nil), list)
	a.body = object{"total_count": len(list), "check_runs": a.body}
	return a
}

// checkOutput refuses what is beyond the limits. Doc: 50 annotations a request
// ("maxItems"), 65,535 characters of summary and text ("maxLength"); columns only where
// the lines are the same.
func checkOutput(o *output) *answer {
	if o == nil {
		return nil
	}

	refuse := func(field, message string) *answer {
		a := invalid("CheckRun", field, message)
		return &a
	}
	switch {
	case o.Summary == nil:
		return refuse("output", "output.summary wasn't supplied")
	case utf8.RuneCountInString(*o.Summary) > 65_535 || utf8.RuneCountInString(o.Text) > 65_535:
		return refuse("output", "Only 65535 characters are allowed")
	case len(o.Annotations) > 50:
		return refuse("annotations", "No more than 50 items are allowed") // qiniu/reviewbot#258
	}

	for _, a := range o.Annotations {
		if a.StartColumn > 0 && a.StartLine != a.EndLine {
			return refuse("annotations", "columns on more than one line")
		}
	}

	return nil
}

// apply changes a run by a body. Doc: annotations are added to those that are there, a
// conclusion completes the run, and a completed one needs a conclusion. It does not begin
// again: Mergifyio/mergify#1989, lyft/atlantis#265.
func (r *run) apply(in checkRun) *answer {
	switch {
	case in.Status != nil && *in.Status == "completed" && in.Conclusion == nil:
		a := invalid("CheckRun", "conclusion", "conclusion is missing")
		return &a
	case in.Conclusion != nil:
		r.status, r.conclusion = "completed", *in.Conclusion
	case in.Status != nil && r.status != "completed":
		r.status = *in.Status
	}

	if in.ExternalID != nil {
		r.externalID = *in.ExternalID
	}

	if in.DetailsURL != nil {
		r.url = *in.DetailsURL
	}

	if in.Output != nil {
		if in.Output.Title != nil {
			r.title = *in.Output.Title
		}
		r.digest = *in.Output.Summary
		r.annotations += len(in.Output.Annotations)
	}

	return nil
}

func (f *Fake) createRun(q *http.Request) answer {
	in := body[checkRun](q)
	switch {
	case !f.app: // doc: "you must use a GitHub App to create checks"
		return failure(http.StatusForbidden, "You must authenticate via a GitHub App.")
	case !f.commits[in.HeadSHA]:
		return noCommit(in.HeadSHA)
	case in.Name == "":
		return invalid("CheckRun", "name", "name is missing")
	}

	if in.Output != nil && in.Output.Title == nil { // doc "required"
		return invalid("CheckRun", "output", "title is missing")
	}

	if refused := checkOutput(in.Output); refused != nil {
		return *refused
	}

	r := &run{sha: in.HeadSHA, name: in.Name, status: "queued"}
	if refused := r.apply(in); refused != nil {
		return *refused
	}

	r.id = f.id()
	f.runs = append(f.runs, r)
	return answer{status: http.StatusCreated, body: r.object()}
}

func (f *Fake) updateRun(q *http.Request) answer {
	for _, r := range f.runs {
		if fmt.Sprint(r.id) != q.PathValue("id") {
			continue
		}

		in := body[checkRun](q)
		if refused := checkOutput(in.Output); refused != nil {
			return *refused
		}
		if refused := r.apply(in); refused != nil {
			return *refused
		}
		return ok(r.object())
	}

	return notFound()
}

func (f *Fake) listStatuses(q *http.Request) answer {
	list := []object{}
	for _, s := range slices.Backward(f.statuses) { // doc: the newest first
		if s.sha == q.PathValue("sha") {
			list = append(list, object{
				"id": s.id, "state": s.state, "context": s.context, "description": s.title, "target_url": s.url,
				"creator": f.user(cmp.Or(s.author, "prwarden")),
			})
		}
	}

	return ok(list)
}

// createStatus adds one. Doc: its state is one of four; a description over 140 characters
// is refused (atlassian/… and docs "commit statuses"), and 1,000 of a context are all.
func (f *Fake) createStatus(q *http.Request) answer {
	in := body[struct {
		State, Context, Description string
		TargetURL                   string `json:"target_url"`
	}](q)
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, in.State) {
		return invalid("Status", "state", "state is not included in the list")
	}

	if utf8.RuneCountInString(in.Description) > 140 {
		return invalid("Status", "description", "description is too long (maximum is 140 characters)")
	}

	s := &status{
		id: f.id(), sha: q.PathValue("sha"), context: in.Context, state: in.State, title: in.Description, url: in.TargetURL,
	}
	f.statuses = append(f.statuses, s)
	return answer{status: http.StatusCreated, body: object{"id": s.id, "state": s.state, "context": s.context}}
}

// PostStatus has somebody else write a status of our context.
func (f *Fake) PostStatus(author, sha, state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses = append(f.statuses, &status{
		id: f.id(), sha: sha, context: github.CheckName, state: state, title: "by " + author, author: author,
	})
}
