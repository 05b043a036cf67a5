package app_test

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/prwarden/prwarden/internal/app"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/dev/pgtest"
	"github.com/prwarden/prwarden/internal/dev/tlsfiletest"
)

// scrape reads the metrics of a process, as text.
func scrape(t *testing.T, addr string) string {
	t.Helper()
	resp, err := http.Get("http://" + addr + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// scrapeScanned reads the metrics of a server that has led one review to a status.
// That is counted a moment after everybody can see it.
func scrapeScanned(t *testing.T, s *app.Server, status string) (text string) {
	t.Helper()
	count := regexp.MustCompile(`(?m)^prwarden_scan_duration_seconds_count\{code="[^"]*",status="` + status + `"\} 1$`)
	require.Eventually(t, func() bool {
		text = scrape(t, s.Addresses().Ops)
		return count.MatchString(text)
	}, patience, 5*time.Millisecond)
	return text
}

// families are the metrics in a text, with their labels.
func families(text string) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(text, -1) {
		found[m[1]] = map[string]bool{}
	}

	sample := regexp.MustCompile(`(?m)^([a-zA-Z_:]+)(?:\{(.*)\})? \S+$`)
	label := regexp.MustCompile(`([a-z_]+)="(?:[^"\\]|\\.)*"`)
	for _, m := range sample.FindAllStringSubmatch(text, -1) {
		name := m[1]
		if found[name] == nil {
			name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		}

		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" {
				found[name][l[1]] = true
			}
		}
	}
	return found
}

// documented is a line of the list in docs/operations/metrics.md.
type documented struct {
	pattern *regexp.Regexp
	where   string
	labels  []string // nil when the line refers to another
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	require.NoError(t, err)
	return string(text)
}

func listed(t *testing.T) map[string]documented {
	t.Helper()
	_, list, ok := strings.Cut(readDocument(t, "operations/metrics.md"), "<!-- metrics:")
	require.True(t, ok)
	list, _, ok = strings.Cut(list, "<!-- end of metrics -->")
	require.True(t, ok)
	all := map[string]documented{}
	quoted := regexp.MustCompile("`([^`]+)`")
	for _, row := range regexp.MustCompile(`(?m)^\| (.+?) \| (\w+) \| (.*?) ?\| .* \|$`).FindAllStringSubmatch(list, -1) {
		var labels []string
		if !strings.Contains(row[3], "the same") {
			labels = []string{}
			for _, l := range quoted.FindAllStringSubmatch(row[3], -1) {
				labels = append(labels, l[1])
			}
		}
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			assert.Empty(t, all[name[1]].where, "%s is listed twice", name[1])
			pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(name[1]), `\*`, ".*") + "$")
			all[name[1]] = documented{pattern, row[2], labels}
		}
	}
	return all
}

// What the document lists is what servers and scanners show, name by name and
// label by label, and nothing else.
func TestMetricsAreTheListedOnes(t *testing.T) {
	t.Parallel()
	whole := setup(t)
	server := whole.server(t)
	a := whole.api(t, server)
	require.Equal(t, "complete", a.finish(t, a.create(t))["status"])
	gone := a.json(
		t, http.MethodPost, "/v1/reviews", `{"repo":"acme/gone","pr_number":1}`, http.StatusAccepted,
	)["review_id"].(string)
	require.Equal(t, "failed", a.finish(t, gone)["status"])
	scrapeScanned(t, server, "complete")
	scrapeScanned(t, server, "failed")

	apart := setup(t)
	apart.config.ScannerOpsAddr = "127.0.0.1:0"
	authority := tlsfiletest.NewAuthority(t)
	link := func(usage x509.ExtKeyUsage) config.Link {
		cert, key := authority.Issue(t, tlsfiletest.Leaf{Usage: usage})
		return config.Link{TLSCert: cert, TLSKey: key, TLSCA: authority.File}
	}
	scanner := apart.scanner(t, link(x509.ExtKeyUsageServerAuth))
	apart.config.Link = link(x509.ExtKeyUsageClientAuth)
	apart.config.Scanners = []string{scanner.Addr()}
	apart.config.Database, apart.config.Migrate = pgtest.New(t), true
	linked := apart.server(t)
	a = apart.api(t, linked)
	require.Equal(t, "complete", a.finish(t, a.create(t))["status"])
	scrapeScanned(t, linked, "complete")

	// A queue, so that there is something to show of it.
	waiting := setup(t)
	waiting.config.Scanners = []string{"127.0.0.1:1"}
	waiting.config.Organizations[0].MaxQueued = 7
	idle := waiting.server(t)
	a = waiting.api(t, idle)
	a.create(t)

	secure := setup(t)
	secure.config.ListenTLSCert, secure.config.ListenTLSKey = tlsfiletest.NewAuthority(t).Issue(
		t, tlsfiletest.Leaf{Usage: x509.ExtKeyUsageServerAuth},
	)
	closed := secure.server(t)

	assert.Contains(
		t, scrape(t, idle.Addresses().Ops), `prwarden_organization_reviews_queued_limit{organization="acme"} 7`,
	)
	for use, addr := range map[string]string{"ports": closed.Addresses().Ops, "link": linked.Addresses().Ops} {
		assert.Contains(t, scrape(t, addr), `prwarden_tls_certificate_expiry_timestamp_seconds{use="`+use+`"}`)
	}
	assert.Contains(t, scrape(t, scanner.OpsAddr()), `prwarden_tls_certificate_expiry_timestamp_seconds{use="link"}`)

	list := listed(t)
	require.Greater(t, len(list), 25)
	shown := map[string]map[string]bool{} // everything, with its labels
	for _, process := range []struct {
		name, addr string
		has        []string
	}{
		{"server that scans", server.Addresses().Ops, []string{"both", "server", "scanner"}},
		{"server with a scanner elsewhere", linked.Addresses().Ops, []string{"both", "server", "linked", "postgres", "tls"}},
		{"server without a scanner", idle.Addresses().Ops, []string{"both", "server", "linked"}},
		{"server with TLS", closed.Addresses().Ops, []string{"both", "server", "scanner", "tls"}},
		{"scanner", scanner.OpsAddr(), []string{"both", "scanner", "tls"}},
	} {
		text := scrape(t, process.addr)
		problems, err := promlint.New(strings.NewReader(text)).Lint()
		require.NoError(t, err)
		assert.Empty(t, problems, process.name)
		for name, labels := range families(text) {
			if shown[name] == nil {
				shown[name] = map[string]bool{}
			}
			maps.Copy(shown[name], labels)
			matched := false
			for _, d := range list {
				matched = matched || d.pattern.MatchString(name) && slices.Contains(process.has, d.where)
			}
			assert.True(t, matched, "%s of the %s is not listed for it", name, process.name)
		}
	}
	for name, d := range list {
		found := false
		for shownName, labels := range shown {
			if !d.pattern.MatchString(shownName) {
				continue
			}
			found = true
			if d.labels != nil && !strings.Contains(name, "*") {
				assert.ElementsMatch(t, d.labels, slices.Collect(maps.Keys(labels)), "labels of %s", name)
			}
		}
		assert.True(t, found, "%s is listed and not shown", name)
	}

	for _, query := range slices.Concat(dashboardQueries(t), alertQueries(t)) {
		for _, name := range regexp.MustCompile(`\b(?:prwarden|grpc_server|go|process)_[a-z0-9_]+`).FindAllString(query, -1) {
			base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
			assert.True(t, shown[name] != nil || shown[base] != nil, "%s is asked for and not shown: %s", name, query)
		}
	}
}

// dashboardQueries reads the dashboard's queries, and checks what Grafana needs
// to import it.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	type source struct{ Type, UID string }
	var dashboard struct {
		UID, Title string
		Templating struct{ List []struct{ Type string } }
		Panels     []struct {
			ID          int
			Type, Title string
			Targets     []struct {
				Expr       string
				Datasource source
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(readDocument(t, "operations/grafana-dashboard.json")), &dashboard))
	assert.NotEmpty(t, dashboard.UID)
	assert.NotEmpty(t, dashboard.Title)
	require.NotEmpty(t, dashboard.Templating.List)
	assert.Equal(t, "datasource", dashboard.Templating.List[0].Type)

	var queries []string
	ids := map[int]bool{}
	for _, p := range dashboard.Panels {
		assert.False(t, ids[p.ID], "%s has an id of another", p.Title)
		ids[p.ID] = true
		assert.True(t, p.Type == "row" || len(p.Targets) > 0, p.Title)
		for _, target := range p.Targets {
			assert.Equal(t, source{"prometheus", "${datasource}"}, target.Datasource, p.Title)
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

// alertQueries reads the alert rules, and checks that the document says of each
// what to do.
func alertQueries(t *testing.T) []string {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr         string
				Labels, Annotations map[string]string
			}
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(readDocument(t, "operations/alerts.yml")), &rules))
	_, runbook, ok := strings.Cut(readDocument(t, "operations/observe.md"), "### Alerts")
	require.True(t, ok)
	runbook, _, _ = strings.Cut(runbook, "\n## ")
	var queries, names []string
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			queries, names = append(queries, r.Expr), append(names, r.Alert)
			assert.Contains(t, []string{"critical", "warning", "info"}, r.Labels["severity"], r.Alert)
			assert.NotEmpty(t, r.Annotations["summary"], r.Alert)
			assert.Equal(t, "docs/operations/observe.md#alerts", r.Annotations["runbook"], r.Alert)
		}
	}
	var told []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(Prwarden\\w+)` \\| .+ \\|$").FindAllStringSubmatch(runbook, -1) {
		told = append(told, row[1])
	}
	assert.ElementsMatch(t, names, told, "alerts, and what to do about them")
	return queries
}
