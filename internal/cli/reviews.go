package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/report"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// ShowReview shows a review that was begun before, and fails as Review does when
// it has ended. Of one that goes on it says how far it is.
func ShowReview(ctx context.Context, st Streams, c config.Client, output Output, id string) error {
	out, err := output.parse(st)
	if err != nil {
		return err
	}

	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return out.withdraw(err)
	}
	answer, raw, err := client.GetReview(ctx, id)
	if err != nil {
		return out.withdraw(reviewError(err))
	}

	r := reviewer{st: st, out: out}
	if answer.Status.Final() {
		return out.withdraw(r.show(answer, raw))
	}
	if len(out.flags.Formats) > 0 {
		return report.Write(out.list, report.Report{Review: answer, JSON: raw}, st.Out, out.style)
	}
	_, err = fmt.Fprintln(st.Out, terminal.GuardLine(terminal.Safe(fmt.Sprintf("Review %s of %s#%d is %s.",
		answer.ID, answer.Repo, answer.PRNumber, answer.Status))))
	return err
}

// CancelReview cancels a review.
func CancelReview(ctx context.Context, st Streams, c config.Client, id string) error {
	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	answer, _, err := client.CancelReview(ctx, id)
	if err != nil {
		return reviewError(err)
	}

	st.note("%s", terminal.Safe(fmt.Sprintf("Review %s of %s#%d is %s.",
		answer.ID, answer.Repo, answer.PRNumber, answer.Status)))
	return nil
}

// ListInput is which reviews to list. Empty fields select all.
type ListInput struct {
	Repo   string // `owner/name`
	Status string // a review.Status
	Number int32  // of the pull request
	Limit  int    // at least 1
	Output string // OutputTable or OutputJSON
}

// Words for ListInput.Output.
const (
	OutputTable = "table"
	OutputJSON  = "json"
)

// maxListed is the most reviews on a page of the API.
const maxListed = 200

// ListReviews lists the newest reviews.
func ListReviews(ctx context.Context, st Streams, c config.Client, in ListInput) error {
	statuses := []review.Status{review.Queued, review.InProgress, review.Complete, review.Failed, review.Canceled}
	switch {
	case in.Limit < 1:
		return Usagef("--limit: must be 1 or more, not %d", in.Limit)
	case in.Output != OutputTable && in.Output != OutputJSON:
		return Usagef("--output: %q is neither %s nor %s", in.Output, OutputTable, OutputJSON)
	case in.Status != "" && !slices.Contains(statuses, review.Status(in.Status)):
		return Usagef("--status: %q is none of %v", in.Status, statuses)
	}

	client, err := newClient(st, c, troubles(st))
	if err != nil {
		return err
	}
	listed, raw, err := in.read(ctx, client)
	if err != nil {
		return reviewError(err)
	}

	if in.Output == OutputJSON {
		for _, one := range raw {
			if _, err := fmt.Fprintln(st.Out, string(one)); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(st.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tPULL REQUEST\tSTATUS\tVERDICT\tFINDINGS\tCREATED\tTITLE")
	for _, r := range listed {
		verdict := "-"
		if r.Verdict != nil {
			verdict = terminal.Safe(string(r.Verdict.Outcome))
		}
		of := terminal.Safe(fmt.Sprintf("%s#%d", r.Repo, r.PRNumber))
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", terminal.Safe(r.ID), of, terminal.Safe(string(r.Status)),
			verdict, counts(r), r.CreatedAt.UTC().Format(time.DateTime), terminal.Safe(r.HeadTitle))
	}
	return t.Flush()
}

// read asks for as many pages as it takes. raw is each review as it came.
func (in ListInput) read(ctx context.Context, client *restclient.Client) (
	listed []review.Review, raw []json.RawMessage, err error,
) {
	query := url.Values{}
	for name, value := range map[string]string{"repo": in.Repo, "status": in.Status} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if in.Number > 0 {
		query.Set("pr_number", strconv.Itoa(int(in.Number)))
	}

	for {
		query.Set("page_size", strconv.Itoa(min(in.Limit-len(listed), maxListed)))
		page, text, err := client.ListReviews(ctx, query)
		if err != nil {
			return nil, nil, err
		}
		var whole struct {
			Reviews []json.RawMessage `json:"reviews"`
		}
		if err := json.Unmarshal(text, &whole); err != nil {
			return nil, nil, err
		}

		listed, raw = append(listed, page.Reviews...), append(raw, whole.Reviews...)
		if page.NextPageToken == "" || len(listed) >= in.Limit {
			return listed, raw, nil
		}
		query.Set("page_token", page.NextPageToken)
	}
}

// counts is how many findings of each severity a review has, `-` before it is
// complete.
func counts(r review.Review) string {
	if r.Status != review.Complete {
		return "-"
	}

	text := ""
	for _, s := range rule.Severities() {
		if n := r.Summary[s]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, s)
		}
	}
	if text == "" {
		return "none"
	}
	return text[2:]
}

// troubles tells people of a call that is tried again.
func troubles(st Streams) func(error) {
	return func(err error) {
		st.note("%s; trying again for up to %s", terminal.Safe(err.Error()), restclient.Patience)
	}
}

// show shows a review that has ended.
func (r *reviewer) show(answer review.Review, raw []byte) error {
	err := r.out.show(report.Report{
		Review: answer, Of: fmt.Sprintf("%s#%d", answer.Repo, answer.PRNumber), JSON: raw,
	})
	if err == nil && answer.Status != review.Complete {
		return failedReview(answer)
	}
	return err
}

// failedReview is the error of a review that has no result, about which all was
// said. The command line is to blame when it named what the server can't read.
func failedReview(r review.Review) error {
	wrong := []string{
		scan.CodePullRequestNotFound, scan.CodeRepositoryNotFound, scan.CodeAccessDenied, scan.CodeCommitNotFound,
		scan.CodeBaseUnknown, scan.CodeNoMergeBase, scan.CodeHostMisconfigured, review.CodeNotAllowed,
	}
	if r.Failure != nil && slices.Contains(wrong, r.Failure.Code) {
		return &UsageError{Err: ErrSilent}
	}

	return ErrSilent
}

// reviewError tells a request that was wrong, which trying again as it is will
// not help, from a service that failed.
func reviewError(err error) error {
	var refused *restclient.APIError
	if !errors.As(err, &refused) {
		return err
	}

	refused.Message = terminal.Safe(refused.Message)
	mayPass := []int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}
	if refused.Status >= http.StatusInternalServerError || slices.Contains(mayPass, refused.Status) {
		return err
	}
	return &UsageError{Err: err}
}
