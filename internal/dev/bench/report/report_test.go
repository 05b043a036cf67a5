package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func chart() Chart {
	return Chart{
		Title: "Cost & <rules>", XLabel: "rules", YLabel: "ns a byte",
		Series: []Series{
			{Name: "prwarden", Points: []Point{{100, 0.5}, {1000, 1.5}, {5000, 5}}},
			{Name: "vectorscan", Points: []Point{{100, 0.7}, {1000, 3}, {5000, 5.1}}},
			{Name: "absent"},
		},
	}
}

// TestSVG compares a chart with testdata/chart.svg. After a change of how charts
// look, look at it, and write it with UPDATE=1.
func TestSVG(t *testing.T) {
	t.Parallel()
	got := chart().SVG()
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile("testdata/chart.svg", []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/chart.svg")
	require.NoError(t, err)
	assert.Equal(t, string(want), got)

	d := xml.NewDecoder(strings.NewReader(got))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	assert.Empty(t, Chart{}.SVG())
}

func TestAxis(t *testing.T) {
	t.Parallel()
	a := newAxis([]float64{100, 5000, 1000}, 0, 300)
	assert.InDeltaSlice(t, []float64{100, 200, 500, 1000, 2000, 5000}, a.ticks, 1e-6)
	assert.InDelta(t, 0, a.place(100), 1e-9)
	assert.InDelta(t, 300, a.place(5000), 1e-6)
	assert.InDeltaSlice(t, []float64{1, 10, 100, 1000, 10000}, newAxis([]float64{1, 2000}, 0, 1).ticks, 1e-6)
	assert.InDeltaSlice(t, []float64{2, 5}, newAxis([]float64{3, 3}, 0, 1).ticks, 1e-6)
}

func TestTable(t *testing.T) {
	t.Parallel()
	table := Table{Header: []string{"rules", "MB/s"}}
	table.Add("a|b", "1")
	table.Add("c")
	assert.Equal(t, "| rules | MB/s |\n|:---|---:|\n| a\\|b | 1 |\n| c |  |\n", table.String())
}

func TestReplace(t *testing.T) {
	t.Parallel()
	const command = "make it"
	before := "head\n" + begin("make other") + "\nother\n" + end + "\n" + begin(command)
	got, err := Replace(before+"\nold\n"+end+"\ntail\n", command, "new\n")
	require.NoError(t, err)
	assert.Equal(t, before+"\n\nnew\n\n"+end+"\ntail\n", got)
	again, err := Replace(got, command, "new")
	require.NoError(t, err)
	assert.Equal(t, got, again)
	for _, document := range []string{"", begin(command), end + begin(command), begin("make other") + end} {
		_, err := Replace(document, command, "new")
		assert.Error(t, err, document)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"1,234,567", "123", "-1,234", "1,000", "-123"},
		[]string{Thousands(1234567), Thousands(123), Thousands(-1234), Thousands(1000), Thousands(-123)})
	assert.Equal(t, []string{"1,060", "38", "4.8", "0.1"}, []string{Speed(1059.7), Speed(38.2), Speed(4.83), Speed(0.1)})
	assert.Equal(t, []string{"1.27 ×", "43 ×"}, []string{Ratio(1.268), Ratio(43.2)})
	assert.Equal(t, []string{"0.05", "0.1", "20"}, []string{number(0.05), number(0.1), number(20)})
}
