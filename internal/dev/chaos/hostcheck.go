package main

import (
	"context"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/prwarden/prwarden/internal/codehost"
)

// reviewed is a review that a connection made.
type reviewed struct {
	ID     string
	Org    string `db:"organization"`
	Head   string `db:"head_sha"`
	Status string
	Code   string
	order  int // in which they were made
}

// judge holds what people see at the hosts to what was pushed, and ends the world's processes on the way.
func (r *hostRun) judge(ctx context.Context) (*verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, r.s.settle)
	defer cancel()
	var all []reviewed
	if err := r.db.SelectContext(ctx, &all, `SELECT id, organization, head_sha, status, coalesce(failure_code, '') AS code
		FROM reviews ORDER BY created_at, id`); err != nil {
		return nil, err
	}
	for i := range all {
		all[i].order = i
	}
	if err := r.stop(ctx); err != nil {
		return nil, err
	}
	left, err := r.leftovers(ctx)
	if err != nil {
		return nil, err
	}

	b := broken(left)
	v := &verdict{ended: map[string]int{}, faults: r.made}
	for _, review := range all {
		v.ended[strings.TrimSpace(review.Status+" "+review.Code)]++
	}
	doubles := 0
	for _, h := range r.hosts {
		of := slices.DeleteFunc(slices.Clone(all), func(x reviewed) bool { return x.Org != h.organization })
		h.checkEnd(&b, of)
		if r.s.hosts.late <= margin {
			h.checkMade(&b)
			h.checkHistory(&b, of)
		}
		doubles += h.doubles()
		for _, c := range h.faults.Calls() {
			v.faults["calls of hosts"]++
			if c.Status == 0 || c.Status >= http.StatusInternalServerError {
				v.faults["calls of hosts that failed"]++
			}
		}
	}
	v.faults["doubles"] = doubles
	if said := r.said("posted twice"); doubles > 0 && said == 0 {
		b.add("says so: %d doubles were removed, and no log says it", doubles)
	}
	v.broken = b

	return v, nil
}

// said counts the lines of the servers' logs that have a text.
func (r *hostRun) said(text string) (n int) {
	for _, p := range r.servers {
		log, _ := os.ReadFile(p.LogFile()) // readLog has read it before
		n += strings.Count(string(log), text)
	}
	return n
}

// checkEnd holds that the pull request shows what the newest review of its head found, once.
func (h *codeHost) checkEnd(b *broken, reviews []reviewed) {
	if len(h.heads) == 0 {
		return
	}
	head := h.heads[len(h.heads)-1]
	i := slices.IndexFunc(reviews, func(r reviewed) bool { return r.Head == head })
	for n, r := range reviews {
		if r.Head == head {
			i = n
		}
	}
	check := h.Check(head)
	if i < 0 || check == nil {
		b.add("verdict: %s shows %+v at its head %s, of which there is review %d", h.organization, check, head, i)
		return
	}

	findings, want := h.planted[head], codehost.Success
	switch {
	case reviews[i].Status == "failed" && passing(reviews[i].Code):
		want = codehost.Broken
	case reviews[i].Status != "complete":
		b.add("verdict: the review of the head of %s is %+v", h.organization, reviews[i])
	case len(findings) > 0:
		want = codehost.Failure
	}
	if check.Verdict != want || path.Base(check.URL) != reviews[i].ID {
		b.add("verdict: %s shows %+v, expected %s of %s", h.organization, check, want, reviews[i].ID)
	}
	if want == codehost.Broken {
		return // comments stay as they were
	}
	if n := h.Annotations(head); h.app && n != len(findings) {
		b.add("annotations: %s has %d, expected %d", h.organization, n, len(findings))
	}

	var open []int
	there := map[string]int{}
	for _, c := range h.ours() {
		there[markerOf(c)]++
		if c.Path != "" && !c.Closed {
			open = append(open, c.Line)
		}
	}
	slices.Sort(open)
	if !slices.Equal(open, findings) {
		b.add("comments: %s has open ones on lines %v, expected %v", h.organization, open, findings)
	}
	if len(findings) > 0 && there["the summary"] == 0 {
		b.add("summary: %s has none", h.organization)
	}
	for name, n := range there {
		if n > 1 {
			b.add("twice: %s has %d comments of %s", h.organization, n, name)
		}
	}
}

// checkMade holds that no comment was ever made twice.
func (h *codeHost) checkMade(b *broken) {
	for name, refs := range h.made {
		if len(refs) > 1 {
			b.add("twice: %s had comments %v of %s", h.organization, refs, name)
		}
	}
}

// outdatedTitle is what the check of an earlier head says. Its address is that of the review that took its place.
const outdatedTitle = "A newer commit takes its place"

// checkHistory holds that a commit never showed an older review after a newer one, nor a scan that goes on after its
// end.
func (h *codeHost) checkHistory(b *broken, reviews []reviewed) {
	order := map[string]int{}
	for _, r := range reviews {
		order[r.ID] = r.order
	}
	for sha, shown := range h.shown {
		last := codehost.Check{}
		for _, c := range shown {
			if c.Title == outdatedTitle || c.Verdict == codehost.Outdated {
				continue
			}
			id, before := path.Base(c.URL), path.Base(last.URL)
			if last.URL != "" && (order[id] < order[before] || id == before && c.Verdict == codehost.Pending &&
				last.Verdict != codehost.Pending) {
				b.add("older: %s showed at %s %+v after %+v", h.organization, sha, c, last)
			}
			last = c
		}
	}
}
