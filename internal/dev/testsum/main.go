// Command testsum runs `go test` with its arguments, and prints a line for
// each package, everything that failed, and how many tests passed, failed and
// were skipped. A skipped test is a failure: it would hide a missing part.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

func main() {
	ok, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(args []string, w io.Writer) (ok bool, err error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	began := time.Now()
	s := newSummary(w)
	readErr := s.read(out)
	waitErr := cmd.Wait()
	var exit *exec.ExitError
	if readErr != nil || (waitErr != nil && !errors.As(waitErr, &exit)) {
		return false, errors.Join(readErr, waitErr)
	}
	s.print(time.Since(began))
	return waitErr == nil && s.failed+s.skipped == 0 && s.passed > 0, nil
}

// event is a line of `go test -json`, or of the build before it.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64 // seconds
}

// summary counts results and keeps the output of what has not passed.
type summary struct {
	w                       io.Writer
	passed, failed, skipped int
	packages                int
	counts                  map[string]int      // tests passed, by package
	output                  map[string][]string // by package and test
	complaints              []string            // skipped and failed tests
}

func newSummary(w io.Writer) *summary {
	return &summary{w: w, counts: map[string]int{}, output: map[string][]string{}}
}

func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(s.w, "%s", line)
			} else {
				s.add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) add(e event) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.w, e.Output)
	case "output":
		s.output[key] = append(s.output[key], e.Output)
		return
	case "pass", "fail", "skip":
		if e.Test == "" {
			s.endPackage(e)
		} else {
			s.endTest(e, key)
		}
	default:
		return
	}
	delete(s.output, key)
}

func (s *summary) endTest(e event, key string) {
	switch e.Action {
	case "pass":
		s.passed++
		s.counts[e.Package]++
	case "fail":
		s.failed++
		s.complain("FAIL", e, key)
	case "skip":
		s.skipped++
		s.complain("SKIP", e, key)
	}
}

func (s *summary) complain(word string, e event, key string) {
	s.complaints = append(s.complaints, word+" "+e.Package+" "+e.Test)
	for _, line := range s.output[key] {
		fmt.Fprint(s.w, line)
	}
}

func (s *summary) endPackage(e event) {
	switch e.Action {
	case "pass":
		s.packages++
		fmt.Fprintf(s.w, "ok    %-60s %5d tests %7.1fs\n", e.Package, s.counts[e.Package], e.Elapsed)
	case "fail":
		s.packages++
		if !slices.ContainsFunc(s.complaints, func(c string) bool { return strings.HasPrefix(c, "FAIL "+e.Package+" ") }) {
			// Not a test: the build, TestMain, a panic or the time limit.
			s.complaints = append(s.complaints, "FAIL "+e.Package)
			s.failed++
		}
		for key, lines := range s.output {
			if strings.HasPrefix(key, e.Package+"\x00") {
				fmt.Fprint(s.w, strings.Join(lines, ""))
			}
		}
	}
}

func (s *summary) print(elapsed time.Duration) {
	for _, c := range s.complaints {
		fmt.Fprintln(s.w, c)
	}
	fmt.Fprintf(s.w, "%d tests passed, %d failed, %d skipped, in %d packages and %s\n",
		s.passed, s.failed, s.skipped, s.packages, elapsed.Round(time.Second))
}
