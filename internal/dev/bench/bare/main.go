// Command bare is what prwarden's GetReview is measured against: the least that answers the same request with the same
// bytes from the same tables. Generated stubs, a plain gRPC server, grpc-gateway's mux over a connection in memory, and
// sqlx. No keys, limits, logs, metrics, checks or second line of defence.
//
//	bare -database postgres://…|sqlite:PATH -organization NAME
//
// It prints one line of JSON with its address and serves until SIGTERM.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

func main() {
	database := flag.String("database", "", "database of a prwarden server")
	organization := flag.String("organization", "", "whose reviews are read")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx, *database, *organization)
	stop()

	if err != nil {
		fmt.Fprintln(os.Stderr, "bare:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, database, organization string) error {
	r, err := open(ctx, database, organization)
	if err != nil {
		return err
	}
	defer func() { _ = r.db.Close() }() // nothing was written

	server := grpc.NewServer()
	defer server.Stop()
	prwardenv1.RegisterReviewServiceServer(server, r)
	inside := bufconn.Listen(1 << 20)
	conn, err := grpc.NewClient("passthrough:///memory",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return inside.DialContext(ctx) }))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()

	mux := runtime.NewServeMux(runtime.WithMarshalerOption(runtime.MIMEWildcard, &runtime.JSONPb{
		MarshalOptions: protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true},
	}))
	if err := prwardenv1.RegisterReviewServiceHandler(ctx, mux, conn); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}

	web := &http.Server{Handler: mux}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(inside) }()
	go func() { failed <- web.Serve(listener) }()
	line := map[string]string{"msg": "serving", "http_addr": listener.Addr().String()}
	if err := json.NewEncoder(os.Stderr).Encode(line); err != nil {
		return err
	}

	select {
	case <-ctx.Done():
		return web.Close()
	case err := <-failed:
		return errors.Join(err, web.Close())
	}
}
