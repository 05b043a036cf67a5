package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prwarden/prwarden/internal/dev/program"
)

// peopleOptions are the flags of `bench people`.
type peopleOptions struct {
	*options
	people, reviews int
	lasts, every    time.Duration
}

// people measures a server on SQLite whose pages many read while one worker scans.
func people(flags *flag.FlagSet, common *options) func(context.Context, io.Writer) error {
	o := peopleOptions{options: common}
	flags.IntVar(&o.people, "people", 50, "how many read pages; at most 60 sign in from an address in a minute")
	flags.IntVar(&o.reviews, "reviews", 100_000, "how many reviews there are")
	flags.DurationVar(&o.lasts, "for", 5*time.Minute, "how long, without people and again with them")
	flags.DurationVar(&o.every, "every", 10*time.Second, "how often each opens a page")
	return func(ctx context.Context, out io.Writer) error {
		return withFolder(func(dir string) error { return o.run(ctx, dir, out) })
	}
}

func (o peopleOptions) run(ctx context.Context, dir string, out io.Writer) (err error) {
	d, err := newDatabases(ctx, "sqlite", dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := program.MakePulls(ctx, dir, repository, []program.Change{{Findings: 50, Lines: 2000}}); err != nil {
		return err
	}
	i, err := install(ctx, o.builds()[0], d, 1)
	if err != nil {
		return err
	}
	shown, err := i.fill(ctx)
	if err != nil {
		return err
	}
	if err := o.copyReview(ctx, i.all, shown); err != nil {
		return err
	}
	if err := i.serve(ctx, "--scan-workers", "1"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, i.Stop()) }()

	all := make([]*reader, o.people)
	for n := range all {
		if all[n], err = newReader(ctx, i, n, shown); err != nil {
			return err
		}
	}
	alone, err := o.scans(ctx, i, nil)
	if err != nil {
		return err
	}
	beside, err := o.scans(ctx, i, all)
	if err != nil {
		return err
	}
	o.print(out, all, alone, beside)

	return nil
}

// copyReview fills the list with copies of a review. The server must not run.
func (o peopleOptions) copyReview(ctx context.Context, database, id string) error {
	db, err := sql.Open("sqlite", strings.TrimPrefix(database, "sqlite:"))
	if err != nil {
		return err
	}
	defer db.Close()
	var columns string
	err = db.QueryRowContext(ctx, `SELECT group_concat(name, ', ') FROM pragma_table_info('reviews')
		WHERE name NOT IN ('id', 'created_at', 'latest')`).Scan(&columns)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO reviews (id, created_at, latest, `+columns+`)
		SELECT printf('rev_copy%020d', i), created_at - 1000 * i, 0, `+columns+` FROM reviews, n WHERE id = ?`, o.reviews, id)

	return err
}

// reader is somebody who reads pages, and how long each took.
type reader struct {
	server, cookie string
	pages          [10]string // list, review and keys in the proportion that people open them
	n              int
	took           map[string][]time.Duration // by the page
}

// newReader makes a user and signs him in.
func newReader(ctx context.Context, i *installation, n int, review string) (*reader, error) {
	r := &reader{server: "http://" + i.HTTP, n: n, took: map[string][]time.Duration{}}
	for k := range r.pages {
		switch {
		case k%10 < 6:
			r.pages[k] = "/o/org0/reviews"
		case k%10 < 9:
			r.pages[k] = "/o/org0/reviews/" + review
		default:
			r.pages[k] = "/o/org0/settings/keys"
		}
	}
	link, err := i.Command(ctx, "users", "create", "--organization", "org0", "--role", "admin",
		"--email", fmt.Sprintf("reader%d@example.com", n), "--public-url", r.server)
	if err != nil {
		return nil, err
	}
	_, token, _ := strings.Cut(strings.TrimSpace(link), "token=")
	form := url.Values{"token": {token}, "password": {"violet Harbor 7 quilts"}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server+"/reset", strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	r.cookie, _, _ = strings.Cut(resp.Header.Get("Set-Cookie"), ";")
	if r.cookie == "" {
		return nil, fmt.Errorf("reader %d could not sign in: %s", n, resp.Status)
	}

	return r, nil
}

// read opens pages until the time is up.
func (r *reader) read(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for k := r.n; ; k += 7 { // all pages in turn, in another order than others
		page := r.pages[k%10]
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server+page, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Cookie", r.cookie)
		began := time.Now()
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case resp.StatusCode != http.StatusOK:
			return fmt.Errorf("%s: %s", page, resp.Status)
		}
		r.took[page] = append(r.took[page], time.Since(began))

		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// scanned is what scans took.
type scanned struct {
	times     []time.Duration
	processor time.Duration // of the server and what it runs, in all
}

// scans has one pull request scanned again and again, while readers read.
func (o peopleOptions) scans(ctx context.Context, i *installation, readers []*reader) (s scanned, err error) {
	limited, cancel := context.WithTimeout(ctx, o.lasts)
	defer cancel()
	failed := make([]error, len(readers))
	var reading sync.WaitGroup
	for n, r := range readers {
		reading.Go(func() {
			select { // they don't all begin at once
			case <-time.After(o.every * time.Duration(n) / time.Duration(len(readers))):
				failed[n] = r.read(limited, o.every)
			case <-limited.Done():
			}
		})
	}
	before := familyTime(i.PID())
	for limited.Err() == nil {
		_, took, err := i.complete(ctx, 1)
		if err != nil {
			return s, err
		}
		s.times = append(s.times, took)
	}
	s.processor = familyTime(i.PID()) - before
	reading.Wait()

	return s, errors.Join(failed...)
}

// print prints what pages and scans took.
func (o peopleOptions) print(out io.Writer, all []*reader, alone, beside scanned) {
	t := &table{{"Page", "opened", "p50, ms", "p95, ms"}}
	pages := all[0].pages
	for _, p := range []struct{ name, page string }{{"list", pages[0]}, {"review", pages[6]}, {"keys", pages[9]}} {
		var took []time.Duration
		for _, r := range all {
			took = append(took, r.took[p.page]...)
		}
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		t.add(p.name, fmt.Sprint(len(took)), inMS(took[len(took)/2]), inMS(took[len(took)*95/100]))
	}
	t.print(out)
	s := &table{{"Scans", "how many", "median, ms", "processor time a scan, ms"}}
	for n, of := range []scanned{alone, beside} {
		slices.Sort(of.times)
		s.add([]string{"alone", "beside people"}[n], fmt.Sprint(len(of.times)), inMS(of.times[len(of.times)/2]),
			inMS(of.processor/time.Duration(len(of.times))))
	}
	s.print(out)
	fmt.Fprintf(out, "%d people, each a page every %s, for %s; %d reviews. The processor time has that of pages in it.\n",
		o.people, o.every, o.lasts, o.reviews)
}

func inMS(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond)) }
