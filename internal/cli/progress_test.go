package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/cli/restclient"
)

func scanning(done int) restclient.Update {
	return restclient.Update{Status: "in_progress", FilesDone: done, FilesTotal: 100}
}

func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &progress{w: &out, live: true, width: 20, now: time.Now}
	p.update(restclient.Update{Status: "queued"})
	p.update(scanning(7))
	p.update(restclient.Update{Status: "in_progress", KeepAlive: true})
	p.update(restclient.Update{Status: "complete"})
	p.end()
	p.end()
	assert.Equal(t, "\rwaiting for a worker"[:20]+
		"\rscanning: 7 of 100 "+
		"\r"+strings.Repeat(" ", 19)+"\r", out.String())
	assert.NotContains(t, out.String(), "\n")
}

// A longer line before must not shine through.
func TestProgressOverwrites(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &progress{w: &out, live: true, width: 80, now: time.Now}
	p.update(restclient.Update{Status: "in_progress"})
	p.update(scanning(7))
	assert.True(
		t,
		strings.HasSuffix(out.String(),
			"\rscanning: 7 of 100 files"+strings.Repeat(" ", len("fetching the pull request")-len("7 of 100 files"))),
		"%q",
		out.String(),
	)
}

func TestProgressInALog(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Unix(0, 0)
	p := &progress{w: &out, now: func() time.Time { return now }}
	p.update(restclient.Update{Status: "queued"})
	p.update(scanning(1))
	now = now.Add(plainEvery - 1)
	p.update(scanning(2)) // too soon
	now = now.Add(1)
	p.update(scanning(3))
	p.update(restclient.Update{Status: "queued"}) // a worker was lost
	p.end()
	assert.Equal(t, "waiting for a worker\nscanning: 1 of 100 files\nscanning: 3 of 100 files\nwaiting for a worker\n",
		out.String())
}
