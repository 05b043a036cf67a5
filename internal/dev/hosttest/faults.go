package hosttest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Fault is what goes wrong with one request.
type Fault struct {
	// Match chooses the requests; nil for those that write.
	Match func(*http.Request) bool

	// Status answers instead of the host, with Header and Body.
	Status int
	Header map[string]string
	Body   string

	// Cut ends the connection without an answer, and Hang when the client has given up.
	Cut  bool
	Hang bool

	// The host has done its work by then if Done is set, and does it after Late if that
	// is longer than nothing.
	Done bool
	Late time.Duration

	// Again is how many further requests it meets.
	Again int
}

// Call is a request that came.
type Call struct {
	Method string
	Path   string
	Status int // of the answer; 0 when it was cut off
}

// Writes tells whether the request changes something. The one that GraphQL has for
// reading is a POST, too.
func Writes(q *http.Request) bool { return q.Method != http.MethodGet && q.Method != http.MethodHead }

// Faults is a fake between which and its host things go wrong.
type Faults struct {
	handler http.Handler
	late    sync.WaitGroup

	mu     sync.Mutex
	faults []*Fault
	random func(*http.Request) *Fault
	calls  []Call
}

// NewFaults makes one that lets everything pass.
func NewFaults(handler http.Handler) *Faults { return &Faults{handler: handler} }

// Next has the next request that a fault matches meet it.
func (f *Faults) Next(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, &fault)
}

// Random asks a function for the fault of each request, which is nil mostly. It is
// called by one request at a time.
func (f *Faults) Random(choose func(*http.Request) *Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.random = choose
}

// Calls are the requests so far, and forgets them.
func (f *Faults) Calls() []Call {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls := f.calls
	f.calls = nil
	return calls
}

// Close waits for what is done late.
func (f *Faults) Close() {
	f.mu.Lock()   // what is begun before this is waited for
	f.mu.Unlock() //nolint:staticcheck // nothing is read under it
	f.late.Wait()
}

// ServeHTTP answers a request, or lets it go wrong.
func (f *Faults) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	fault := f.choose(q)
	if fault == nil {
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		f.handler.ServeHTTP(seen, q)
		f.add(q, seen.status)
		return
	}
	f.add(q, fault.Status)
	f.work(fault, q)
	if fault.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, value := range fault.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(fault.Status)
	_, _ = io.WriteString(w, fault.Body)
}

// work has the host do its work, now or later, if the fault leaves it that.
func (f *Faults) work(fault *Fault, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if fault.Hang {
		<-q.Context().Done()
	}

	work := func() {
		again := q.Clone(context.WithoutCancel(q.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		f.handler.ServeHTTP(httptest.NewRecorder(), again)
	}
	switch {
	case fault.Late > 0:
		f.mu.Lock()
		f.late.Add(1)
		f.mu.Unlock()
		time.AfterFunc(fault.Late, func() {
			defer f.late.Done()
			work()
		})
	case fault.Done:
		work()
	}
}

// choose is the fault of a request; nil for none.
func (f *Faults) choose(q *http.Request) *Fault {
	f.mu.Lock()
	defer f.mu.Unlock()

	for i, fault := range f.faults {
		if fault.Match == nil && !Writes(q) || fault.Match != nil && !fault.Match(q) {
			continue
		}
		if fault.Again--; fault.Again < 0 {
			f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
		}
		return fault
	}
	if f.random != nil {
		return f.random(q)
	}

	return nil
}

func (f *Faults) add(q *http.Request, status int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, Call{q.Method, q.URL.Path, status})
}

// statusWriter keeps the status of an answer.
type statusWriter struct {
	http.ResponseWriter

	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// forget takes back the faults that are to come.
func (f *Faults) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}
