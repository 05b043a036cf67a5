package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/dev/bench/report"
)

// document keeps the results, between markers.
const document = "docs/benchmarks.md"

// results are what one run measured.
type results struct {
	began          time.Time
	took           time.Duration
	reads          []*reading
	accepts        []accepting
	ceilings       []ceiling
	starts         []starting
	scaling        []scaling
	sync50, sync99 time.Duration
}

// publish prints the results, and puts them into the document when asked to.
func (s *suite) publish(ctx context.Context, r *results) error {
	text := r.text(machine(ctx))
	fmt.Fprintln(s.out, "\n"+text)
	if !s.write {
		return nil
	}
	old, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	changed, err := report.Replace(string(old), "make bench-service", text)
	if err != nil {
		return err
	}
	return os.WriteFile(document, []byte(changed), 0o644)
}

// machine says in a line on what was measured.
func machine(ctx context.Context) string {
	first := func(path, prefix string) string {
		f, err := os.Open(path)
		if err != nil {
			return ""
		}
		defer func() { _ = f.Close() }() // only read
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return strings.TrimSpace(strings.TrimLeft(rest, "\t :"))
			}
		}
		return ""
	}
	commit := "unknown"
	if out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		commit = string(bytes.TrimSpace(out))
	}
	load, _, _ := strings.Cut(first("/proc/loadavg", ""), " ")
	return fmt.Sprintf("%s, %d processors, %s, %s/%s. Load of the machine at the end, this benchmark included: %s. Commit %s.",
		first("/proc/cpuinfo", "model name"), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, load, commit)
}

func (r *results) text(machine string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s in %s: %s", r.began.UTC().Format(time.DateOnly), r.took.Round(time.Second), machine)
	fmt.Fprintf(&b, " Writing and syncing 4 KiB on its disk takes %.2f ms (median; p99 %.2f ms).\n", ms(r.sync50), ms(r.sync99))
	if len(r.reads) > 0 {
		b.WriteString("\n### GetReview beside a bare program\n\n" + r.readsTable())
		fmt.Fprintf(&b, "\nMedians of runs in turn, %d connections each. Calls a second are by the clock, with the callers on the same processors. Ratios are prwarden's throughput as a part of the bare program's: by the clock, by the processor time of the server alone, and by that of server and database together.\n", readCallers)
	}
	if len(r.accepts) > 0 {
		b.WriteString("\n### Accepting a review\n\n" + r.acceptsTable())
		b.WriteString("\nThe last two columns are processor time for a call; the server's has SQLite in it.\n")
	}
	if len(r.starts) > 0 {
		b.WriteString("\n### From creation to start\n\n" + r.startsTable())
	}
	if len(r.scaling) > 0 {
		b.WriteString("\n### Scanner processes\n\n" + r.scalingTable())
		fmt.Fprintf(&b, "\nPostgres, one server, scanners that do %d scans at once each, and a code host that takes %d ms for every answer. Times are of the processors, for a review; what git takes below the scanners is not in them.\n",
			scansAtOnce, hostDelay.Milliseconds())
	}
	return b.String()
}

func (r *results) readsTable() string {
	t := report.Table{Header: []string{"Database", "Protocol", "Findings", "Bytes", "prwarden, /s", "bare, /s", "ratio, clock",
		"prwarden, µs", "bare, µs", "ratio, server", "with database, µs", "bare, µs", "ratio, all"}}
	for _, one := range r.reads {
		clock, server, all := one.ratios()
		rate := func(s sample) float64 { return s.rate }
		t.Add(one.database, one.protocol, report.Thousands(int64(one.findings)), report.Thousands(int64(one.bytes)),
			whole(median(one.ours, rate)), whole(median(one.bare, rate)), two(clock),
			whole(median(one.ours, serverTime)/1e3), whole(median(one.bare, serverTime)/1e3), two(server),
			whole(median(one.ours, allTime)/1e3), whole(median(one.bare, allTime)/1e3), two(all))
	}
	return t.String()
}

func (r *results) acceptsTable() string {
	t := report.Table{Header: []string{"What", "clients", "waiting before", "median, ms", "p99, ms", "a second", "server, ms", "database, ms"}}
	for _, one := range r.ceilings {
		t.Add("pgbench, one insert a transaction", fmt.Sprint(one.clients), "", two(ms(one.latency))+" (mean)", "", whole(one.rate))
	}
	rows := slices.Clone(r.accepts)
	slices.SortStableFunc(rows, func(a, b accepting) int {
		return cmp.Or(strings.Compare(a.database, b.database), a.callers-b.callers)
	})
	for _, one := range rows {
		t.Add("POST /v1/reviews on "+one.database, fmt.Sprint(one.callers), report.Thousands(int64(one.waiting)),
			two(ms(one.p50)), two(ms(one.p99)), whole(one.rate), two(ms(one.cost.server)), two(ms(one.cost.database)))
	}
	return t.String()
}

func (r *results) startsTable() string {
	t := report.Table{Header: []string{"Database", "Review", "samples", "median, ms", "p99, ms", "most, ms"}}
	for _, one := range r.starts {
		t.Add(one.database, one.way, fmt.Sprint(one.samples), two(ms(one.p50)), two(ms(one.p99)), two(ms(one.most)))
	}
	return t.String()
}

func (r *results) scalingTable() string {
	t := report.Table{Header: []string{"Scanners", "reviews", "reviews a second", "of one scanner", "a scan, s", "server, ms", "database, ms", "scanners, ms"}}
	for _, one := range r.scaling {
		t.Add(fmt.Sprint(one.scanners), fmt.Sprint(one.reviews), two(one.rate()), two(one.rate()/r.scaling[0].rate())+" ×", two(one.each.Seconds()),
			two(ms(one.server)), two(ms(one.database)), two(ms(one.scanner)))
	}
	return t.String()
}

func whole(f float64) string { return report.Thousands(int64(f + 0.5)) }
func two(f float64) string   { return fmt.Sprintf("%.2f", f) }
