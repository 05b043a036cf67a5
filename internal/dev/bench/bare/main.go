// Command bare is what prwarden's GetReview is measured against: the least that answers the same request for a review
// without findings with the same bytes from the same tables. Generated stubs, a plain gRPC server, grpc-gateway's mux
// over a connection in memory, and sqlx. No keys, limits, logs, metrics, checks or second line of defence.
//
//	bare -database postgres://…|sqlite:PATH -organization NAME
//
// It prints one line of JSON with its address and serves until SIGTERM.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/jmoiron/sqlx"
	_ "github.com/lib/pq" // the driver named "postgres"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"
	_ "modernc.org/sqlite" // the driver named "sqlite"

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

// connections to the database, as many as there are callers.
const connections = 16

// reviews answers GetReview.
type reviews struct {
	prwardenv1.UnimplementedReviewServiceServer
	db                      *sqlx.DB
	organization            string
	review, findings, skips string // queries
}

// The queries of a review, its findings and its skips.
const (
	reviewQuery = `SELECT id, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha,
		base_sha, rules_digest, summary, truncated, failure_code, failure_message, fail_on, previous_id,
		created_by, base_found_by, looked_at_files, looked_at_lines, looked_at_rules, priority,
		head_title, head_author, new_total, fixed_total, suppressed_total
		FROM reviews WHERE organization = ? AND id = ?`
	findingsQuery = `SELECT rule_id FROM findings WHERE review_id = ? ORDER BY position`
	skipsQuery    = `SELECT file FROM skips WHERE review_id = ? ORDER BY position`
)

func open(ctx context.Context, database, organization string) (*reviews, error) {
	driver, dsn := "postgres", database
	if path, ok := strings.CutPrefix(database, "sqlite:"); ok {
		driver = "sqlite"
		dsn = (&url.URL{Scheme: "file", Opaque: path, RawQuery: "_pragma=query_only(1)"}).String()
	}
	sqlx.BindDriver("sqlite", sqlx.QUESTION)
	db, err := sqlx.ConnectContext(ctx, driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &reviews{
		db: db, organization: organization,
		review: db.Rebind(reviewQuery), findings: db.Rebind(findingsQuery), skips: db.Rebind(skipsQuery),
	}, nil
}

type reviewRow struct {
	ID             string         `db:"id"`
	Repo           string         `db:"repo"`
	PRNumber       int32          `db:"pr_number"`
	Ruleset        string         `db:"ruleset"`
	Status         string         `db:"status"`
	CreatedAt      sql.NullInt64  `db:"created_at"`
	StartedAt      sql.NullInt64  `db:"started_at"`
	CompletedAt    sql.NullInt64  `db:"completed_at"`
	HeadSHA        string         `db:"head_sha"`
	BaseSHA        string         `db:"base_sha"`
	RulesDigest    string         `db:"rules_digest"`
	Summary        string         `db:"summary"`
	Truncated      bool           `db:"truncated"`
	FailureCode    sql.NullString `db:"failure_code"`
	FailureMessage sql.NullString `db:"failure_message"`
	FailOn         string         `db:"fail_on"`
	PreviousID     string         `db:"previous_id"`
	CreatedBy      string         `db:"created_by"`
	BaseFoundBy    string         `db:"base_found_by"`
	Files          int32          `db:"looked_at_files"`
	Lines          int32          `db:"looked_at_lines"`
	Rules          int32          `db:"looked_at_rules"`
	Priority       int            `db:"priority"`
	HeadTitle      string         `db:"head_title"`
	HeadAuthor     string         `db:"head_author"`
	New            int32          `db:"new_total"`
	Fixed          int32          `db:"fixed_total"`
	Suppressed     int32          `db:"suppressed_total"`
}

// GetReview implements ReviewService.
func (r *reviews) GetReview(ctx context.Context, req *prwardenv1.GetReviewRequest) (
	*prwardenv1.GetReviewResponse, error,
) {
	var row reviewRow
	err := r.db.GetContext(ctx, &row, r.review, r.organization, req.GetReviewId())
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, status.Error(codes.NotFound, "no such review")
	case err != nil:
		return nil, err
	}
	for _, query := range []string{r.findings, r.skips} {
		var found []string
		if err := r.db.SelectContext(ctx, &found, query, row.ID); err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return nil, status.Error(codes.Unimplemented, "the bare program has no review with findings or skips")
		}
	}

	return answer(row)
}

func answer(row reviewRow) (*prwardenv1.GetReviewResponse, error) {
	var summary map[string]int32
	if err := json.Unmarshal([]byte(row.Summary), &summary); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	out := &prwardenv1.Review{
		ReviewId: row.ID, Repo: row.Repo, PrNumber: row.PRNumber, Ruleset: row.Ruleset,
		Status:    prwardenv1.Review_Status(prwardenv1.Review_Status_value[row.Status]).Enum(),
		CreatedAt: toTime(row.CreatedAt), StartedAt: toTime(row.StartedAt), CompletedAt: toTime(row.CompletedAt),
		HeadSha: given(row.HeadSHA), BaseSha: given(row.BaseSHA), RulesDigest: given(row.RulesDigest),
		Summary: &prwardenv1.SeveritySummary{
			Critical: summary["critical"], High: summary["high"], Medium: summary["medium"],
			Warning: summary["warning"], Low: summary["low"], Info: summary["info"],
		},
		PreviousReviewId: given(row.PreviousID), Truncated: row.Truncated, CreatedBy: row.CreatedBy,
		Priority:  prwardenv1.Priority_Level(row.Priority + 1).Enum(), // from 0 there, unspecified here
		HeadTitle: given(row.HeadTitle), HeadAuthor: given(row.HeadAuthor),
	}

	if row.FailureCode.Valid {
		out.Error = &prwardenv1.ReviewError{Code: row.FailureCode.String, Message: row.FailureMessage.String}
	}
	if row.Status == "complete" {
		threshold := prwardenv1.Severity_Level(prwardenv1.Severity_Level_value[row.FailOn])
		out.BaseFoundBy = prwardenv1.Base_FoundBy(prwardenv1.Base_FoundBy_value[row.BaseFoundBy]).Enum()
		out.NewTotal, out.FixedTotal, out.SuppressedTotal = &row.New, &row.Fixed, &row.Suppressed
		out.Open = &prwardenv1.SeveritySummary{} // there are no findings
		out.LookedAt = &prwardenv1.LookedAt{Files: row.Files, AddedLines: row.Lines, Rules: row.Rules}
		out.Verdict = &prwardenv1.Verdict{Outcome: prwardenv1.Verdict_pass.Enum(), Threshold: threshold.Enum()}
	}
	return &prwardenv1.GetReviewResponse{Review: out}, nil
}

func toTime(us sql.NullInt64) *timestamppb.Timestamp {
	if !us.Valid {
		return nil
	}
	return timestamppb.New(time.UnixMicro(us.Int64))
}

func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
