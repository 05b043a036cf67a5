package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// ratio is how many of all are useful.
type ratio struct{ useful, all int }

func (r ratio) value() float64 { return float64(r.useful) / float64(max(1, r.all)) }

// enough is how many hits of a rule say something about its precision.
const enough = 5

// confidence is the word that a rule with this precision may carry.
func (r ratio) confidence() string {
	switch v := r.value(); {
	case r.all < enough:
		return "too few"
	case v >= 0.9:
		return "high"
	case v >= 0.7:
		return "medium"
	}
	return "low"
}

// wilson is the 95 % interval of a share by Wilson's formula.
func (r ratio) wilson() interval {
	if r.all == 0 {
		return interval{0, 1}
	}
	const z = 1.959964
	n, p := float64(r.all), r.value()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return interval{max(0, middle-half), min(1, middle+half)}
}

// interval is what a share may be, with 95 % certainty.
type interval struct{ low, high float64 }

func (i interval) String() string { return fmt.Sprintf("%.0f–%.0f %%", 100*i.low, 100*i.high) }

const (
	bootstrapRuns = 10_000
	bootstrapSeed = 15 // fixed, so that the same data give the same report
)

// vote is the mean of the projects' precisions, and its interval by a bootstrap over the projects: another choice of
// projects would have given another mean.
func vote(precisions []float64) (mean float64, i interval) {
	if len(precisions) == 0 {
		return 0, interval{0, 1}
	}
	mean = average(precisions)
	random := rand.New(rand.NewPCG(bootstrapSeed, 0))
	means := make([]float64, bootstrapRuns)
	drawn := make([]float64, len(precisions))
	for n := range means {
		for k := range drawn {
			drawn[k] = precisions[random.IntN(len(precisions))]
		}
		means[n] = average(drawn)
	}

	slices.Sort(means)
	return mean, interval{means[bootstrapRuns*25/1000], means[bootstrapRuns*975/1000]}
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// agreement is the share of hits of which both readers say the same, and Cohen's kappa, which takes off what chance
// alone would bring. pairs say which of the two readers said useful.
func agreement(pairs [][2]bool) (same, kappa float64) {
	n := float64(max(1, len(pairs)))
	var first, second float64
	for _, p := range pairs {
		if p[0] == p[1] {
			same++
		}
		if p[0] {
			first++
		}
		if p[1] {
			second++
		}
	}

	same, first, second = same/n, first/n, second/n
	chance := first*second + (1-first)*(1-second)
	if chance == 1 {
		return same, 1 // both always say the same word
	}
	return same, (same - chance) / (1 - chance)
}
