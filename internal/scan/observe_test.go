package scan_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/prwarden/prwarden/internal/rule"
	"github.com/prwarden/prwarden/internal/scan"
)

// observer keeps what it hears.
type observer struct {
	mu      sync.Mutex
	started int
	reports []scan.Report
}

func (o *observer) Started() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.started++
}

func (o *observer) Ended(r scan.Report) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reports = append(o.reports, r)
}

func TestObserver(t *testing.T) {
	t.Parallel()
	gone := &scan.Failure{Code: scan.CodeHostUnreachable, Message: "m"}
	tests := []struct {
		name    string
		pull    *pull
		timeout time.Duration
		outcome string
	}{
		{"complete", &pull{files: []scan.File{file("a.go", "todo")}}, 0, scan.OutcomeComplete},
		{"not opened", &pull{openErr: gone}, 0, scan.CodeHostUnreachable},
		{
			"broken off by a fault",
			&pull{files: []scan.File{file("a.go", "todo")}, fileErr: errors.New("fault")},
			0,
			scan.CodeScanFailed,
		},
		{"too slow", &pull{files: []scan.File{file("a.go", "todo")}}, time.Nanosecond, scan.CodeScanTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := &observer{}
			result, _ := try(
				t,
				tt.pull,
				[]rule.Rule{regex("x", "todo")},
				setup{options: scan.Options{Observer: o, Timeout: tt.timeout}},
			)
			assert.Equal(t, 1, o.started)
			require.Len(t, o.reports, 1)
			assert.Equal(t, tt.outcome, o.reports[0].Outcome)
			assert.Same(t, result, o.reports[0].Result)
			assert.Positive(t, o.reports[0].Took)
			if result != nil {
				assert.Equal(t, result.Times, o.reports[0].Times)
			}
		})
	}
}

func TestCacheStats(t *testing.T) {
	t.Parallel()
	s := scan.NewScanner(&pull{}, scan.Options{})
	rules := []rule.Rule{regex("x", "todo")}
	for range 3 {
		_, err := s.AddRules(rule.Digest(rules), rules)
		require.NoError(t, err)
	}
	_, known := s.Rules("another digest")
	require.False(t, known)
	stats := s.CacheStats()
	assert.Positive(t, stats.Bytes)
	stats.Bytes = 0
	assert.EqualValues(t, 2, stats.Hits)
	assert.EqualValues(t, 1, stats.Misses, "what is asked for and then added is one")
	assert.Equal(t, 1, stats.Entries)
}

// A scan below a span has spans of its phases, with counts and no texts.
func TestSpans(t *testing.T) {
	t.Parallel()
	recorded := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorded))
	s := scan.NewScanner(&pull{files: []scan.File{file("secret-name.go", "todo secret-content")}}, scan.Options{})
	rules := []rule.Rule{regex("x", "todo")}
	set, err := s.AddRules(rule.Digest(rules), rules)
	require.NoError(t, err)
	ctx, parent := provider.Tracer("test").Start(t.Context(), "parent")
	_, err = s.Scan(
		ctx,
		scan.Request{Target: scan.Target{Organization: "acme", Repo: "acme/api", Number: 1}, Rules: set, MaxFindings: 10},
		func(scan.Progress) {},
	)
	require.NoError(t, err)
	parent.End()

	spans := map[string]sdktrace.ReadOnlySpan{}
	for _, span := range recorded.Ended() {
		spans[span.Name()] = span
		for _, a := range span.Attributes() {
			assert.NotContains(t, a.Value.String(), "secret", "%s of %s", a.Key, span.Name())
		}
	}
	require.Contains(t, spans, "scan")
	assert.Equal(t, parent.SpanContext().SpanID(), spans["scan"].Parent().SpanID())
	assert.Equal(t, codes.Unset, spans["scan"].Status().Code)
	assert.Contains(t, spans["scan"].Attributes(), attribute.Int64("prwarden.findings", 1))
	for _, name := range []string{"rules"} {
		require.Contains(t, spans, name)
		assert.Equal(t, spans["scan"].SpanContext().SpanID(), spans[name].Parent().SpanID(), name)
	}
}
