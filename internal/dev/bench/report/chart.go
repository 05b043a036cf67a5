// Package report writes what a benchmark measured: Markdown tables, kept in a
// document between markers, and charts as SVG.
package report

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Chart is lines over two logarithmic axes.
type Chart struct {
	Title  string
	XLabel string
	YLabel string
	Series []Series
}

// Series is one line of a chart. Its points have positive coordinates and
// ascend by X.
type Series struct {
	Name   string
	Points []Point
}

// Point is one measurement.
type Point struct{ X, Y float64 }

// Size of a chart and of the room around the plot, in pixels.
const (
	width, height            = 720, 440
	left, right, top, bottom = 80, 170, 50, 60
)

// colors differ for people who see colors differently too, and so do dashes.
func style(i int) (color, dash string) {
	colors := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#806000"}
	dashes := []string{"", "7 4", "2 3", "9 3 2 3", "4 2", "1 4"}
	return colors[i%len(colors)], dashes[i%len(dashes)]
}

// SVG draws the chart. It is empty when there is nothing to draw.
func (c Chart) SVG() string {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return ""
	}
	x := newAxis(xs, left, width-right)
	y := newAxis(ys, height-bottom, top)

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	text(&b, left, 28, `font-size="16" font-weight="600"`, c.Title)
	for _, v := range x.ticks {
		at := x.place(v)
		fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#dddddd"/>`+"\n", at, top, height-bottom)
		text(&b, at, height-bottom+20, `text-anchor="middle" fill="#333333"`, number(v))
	}
	for _, v := range y.ticks {
		at := y.place(v)
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#dddddd"/>`+"\n", left, at, width-right)
		text(&b, left-8, at+4, `text-anchor="end" fill="#333333"`, number(v))
	}
	fmt.Fprintf(&b, `<path d="M%d %dV%dH%d" stroke="#333333" fill="none"/>`+"\n", left, top, height-bottom, width-right)
	text(&b, (left+width-right)/2, height-16, `text-anchor="middle"`, c.XLabel)
	text(&b, -(top+height-bottom)/2, 20, `transform="rotate(-90)" text-anchor="middle"`, c.YLabel)

	labels := make([]float64, len(c.Series)) // where each line's name goes, beside its last point
	order := make([]int, len(c.Series))
	for i, s := range c.Series {
		order[i] = i
		if n := len(s.Points); n > 0 {
			labels[i] = y.place(s.Points[n-1].Y)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, labels[a]-labels[b])) })
	for i := 1; i < len(order); i++ {
		labels[order[i]] = max(labels[order[i]], labels[order[i-1]]+17)
	}
	for i, s := range c.Series {
		color, dash := style(i)
		var path []string
		for _, p := range s.Points {
			path = append(path, fmt.Sprintf("%.1f %.1f", x.place(p.X), y.place(p.Y)))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x.place(p.X), y.place(p.Y), color)
		}
		if len(path) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<path d="M%s" stroke="%s" stroke-width="2" stroke-dasharray="%s" fill="none"/>`+"\n", strings.Join(path, "L"), color, dash)
		text(&b, x.place(s.Points[len(s.Points)-1].X)+10, labels[i]+4, `fill="`+color+`"`, s.Name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func text(b *strings.Builder, x, y float64, attributes, s string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" %s>%s</text>`+"\n", x, y, attributes, html.EscapeString(s))
}

// axis maps values between two of its ticks, the first and the last, to pixels.
type axis struct {
	ticks    []float64
	from, to float64
}

// newAxis has ticks at 1, 2 and 5 times powers of ten, or only at the powers
// where these would be too many.
func newAxis(values []float64, from, to float64) axis {
	low, high := slices.Min(values), slices.Max(values)
	steps := []float64{1, 2, 5}
	if high/low > 1000 {
		steps = []float64{1}
	}
	a := axis{from: from, to: to}
	for exponent := math.Floor(math.Log10(low)) - 1; ; exponent++ {
		for _, step := range steps {
			v := step * math.Pow(10, exponent)
			switch {
			case v <= low*1.0001:
				a.ticks = []float64{v}
			default:
				a.ticks = append(a.ticks, v)
			}
			if v >= high*0.9999 && len(a.ticks) > 1 {
				return a
			}
		}
	}
}

func (a axis) place(v float64) float64 {
	low, high := math.Log(a.ticks[0]), math.Log(a.ticks[len(a.ticks)-1])
	return a.from + (a.to-a.from)*(math.Log(v)-low)/(high-low)
}

// number writes a tick: 0.05, 2, 1,000.
func number(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.3g", v)
	}
	return Thousands(int64(math.Round(v)))
}

// Thousands writes a number with commas.
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
