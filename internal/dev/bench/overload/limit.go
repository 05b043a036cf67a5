package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// limitRate is how many requests a second one key makes of two servers.
const limitRate = 20

// limit asks two servers by turns with one key, and looks how many requests of
// each window were let through.
func (e *environment) limit(ctx context.Context) error {
	var clients []*client
	for range 2 {
		s, err := e.start(ctx)
		if err != nil {
			return err
		}
		c := &client{addr: s.HTTP, source: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
		defer c.close()
		clients = append(clients, c)
	}
	token, err := e.key(ctx, organization(0), 0)
	if err != nil {
		return err
	}
	get := request("GET", "/v1/rules", token, "")
	type counts struct{ accepted, refused int }
	windows := map[int64]*counts{}
	var order []int64
	ticker := time.NewTicker(time.Second / limitRate)
	defer ticker.Stop()
	began := time.Now()
	for n := 0; time.Since(began) < e.duration && ctx.Err() == nil; n++ {
		status, header, _, err := clients[n%2].do(get, false)
		if err != nil {
			return err
		}
		end, err := strconv.ParseInt(header.Get("X-RateLimit-Reset"), 10, 64)
		if err != nil {
			return fmt.Errorf("X-RateLimit-Reset: %w", err)
		}
		if windows[end] == nil {
			windows[end] = &counts{}
			order = append(order, end)
		}
		switch status {
		case http.StatusOK:
			windows[end].accepted++
		case http.StatusTooManyRequests:
			windows[end].refused++
		default:
			return fmt.Errorf("answered %d", status)
		}
		<-ticker.C
	}
	over := false
	for _, end := range order {
		w := windows[end]
		fmt.Fprintf(e.out, "window that ends at %s: %d accepted, %d refused\n", time.Unix(end, 0).UTC().Format(time.TimeOnly), w.accepted, w.refused)
		over = over || w.accepted > 60
	}
	if over {
		return errors.New("a window let through more than 60")
	}
	return nil
}
