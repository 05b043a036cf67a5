package inbox_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prwarden/prwarden/internal/codehost"
	"github.com/prwarden/prwarden/internal/connection"
	"github.com/prwarden/prwarden/internal/inbox"
	"github.com/prwarden/prwarden/internal/store"
)

// slowHosts are connections whose hosts take their time.
type slowHosts struct {
	connection.Hosts
	opened chan string
	free   chan struct{}
}

func (h *slowHosts) Open(_ context.Context, id string) (connection.Connection, codehost.Host, error) {
	h.opened <- id
	<-h.free

	return connection.Connection{}, nil, connection.NotFound(id)
}

// TestOrganizationsTakeTurns checks that deliveries of an organization with many of them,
// and with more than one connection, leave room for others and don't go before them.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		atOnce int
		want   []string
	}{
		"part of all": {4, []string{"con_a", "con_b", "con_c"}}, "the others first": {2, []string{"con_a", "con_c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, err := store.Open(t.Context(), store.Options{Database: "sqlite:" + filepath.Join(t.TempDir(), "x.db")})
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, s.Close()) })
				require.NoError(t, s.Migrate(t.Context()))
				in := inbox.New(s)
				for i, id := range []string{"con_a", "con_b", "con_a", "con_b", "con_c"} {
					c := connection.Connection{ID: id, Organization: acme}
					if id == "con_c" {
						c.Organization = "other"
					}
					<-time.After(time.Millisecond)
					_, err := in.Accept(t.Context(), c, fmt.Sprint(i), []codehost.Hint{hint(int32(i + 1))})
					require.NoError(t, err)
				}

				hosts := &slowHosts{opened: make(chan string, 10), free: make(chan struct{})}
				w := inbox.NewWorker(in, &inbox.Handler{Hosts: hosts}, inbox.WorkerOptions{
					AtOnce: tc.atOnce, PerOrganization: 2, PerConnection: 2,
				})
				w.Start()
				synctest.Wait()
				var opened []string
				for len(hosts.opened) > 0 {
					opened = append(opened, <-hosts.opened)
				}
				assert.ElementsMatch(t, tc.want, opened)
				close(hosts.free)
				assert.NoError(t, w.Stop(context.Background()))
			})
		})
	}
}
