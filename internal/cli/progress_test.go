package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/prwarden/prwarden/internal/cli/restclient"
)

func scanning(done int) restclient.Update {
	return restclient.Update{Status: "in_progress", FilesDone: done, FilesTotal: 100}
}

// A longer line before must not shine through.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &progress{w: &out, live: true}
	p.update(restclient.Update{Status: "in_progress"})
	p.update(scanning(7))
	p.update(restclient.Update{Status: "in_progress", KeepAlive: true})
	p.update(restclient.Update{Status: "complete"})
	p.end()
	p.end()
	assert.Equal(t, "\rscanning: fetching the pull request"+
		"\rscanning: 7 of 100 files           "+
		"\r"+strings.Repeat(" ", len("scanning: 7 of 100 files"))+"\r", out.String())
}

func TestProgressInALog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := &progress{w: &out}
		p.update(restclient.Update{Status: "queued"})
		p.update(scanning(1))
		<-time.After(plainEvery - 1)
		p.update(scanning(2)) // too soon
		<-time.After(1)
		p.update(scanning(3))
		p.update(restclient.Update{Status: "queued"}) // a worker was lost
		p.end()
		assert.Equal(t, "waiting for a worker\nscanning: 1 of 100 files\nscanning: 3 of 100 files\nwaiting for a worker\n",
			out.String())
	})
}
