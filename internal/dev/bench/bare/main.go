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
		base_sha, rules_digest, summary, truncated, failure_code, failure_message, fail_on, previous_id
		FROM reviews WHERE organization = ? AND id = ?`
	findingsQuery = `SELECT rule_id, severity, file, line, end_line, col, end_col, utf16_col, utf16_end_col,
		message, snippet, fingerprint, line_hash, state
		FROM findings WHERE review_id = ? ORDER BY position`
	skipsQuery = `SELECT file, line, rule_id, reason FROM skips WHERE review_id = ? ORDER BY position`
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
}

type findingRow struct {
	RuleID      string `db:"rule_id"`
	Severity    string `db:"severity"`
	File        string `db:"file"`
	Line        int32  `db:"line"`
	EndLine     int32  `db:"end_line"`
	Column      int32  `db:"col"`
	EndColumn   int32  `db:"end_col"`
	UTF16       int32  `db:"utf16_col"`
	UTF16End    int32  `db:"utf16_end_col"`
	Message     string `db:"message"`
	Snippet     string `db:"snippet"`
	Fingerprint string `db:"fingerprint"`
	LineHash    string `db:"line_hash"`
	State       string `db:"state"`
}

type skipRow struct {
	File   string `db:"file"`
	Line   int32  `db:"line"`
	RuleID string `db:"rule_id"`
	Reason string `db:"reason"`
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
	var findings []findingRow
	if err := r.db.SelectContext(ctx, &findings, r.findings, row.ID); err != nil {
		return nil, err
	}
	var skips []skipRow
	if err := r.db.SelectContext(ctx, &skips, r.skips, row.ID); err != nil {
		return nil, err
	}
	return answer(row, findings, skips)
}

func answer(row reviewRow, findings []findingRow, skips []skipRow) (*prwardenv1.GetReviewResponse, error) {
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
		PreviousReviewId: given(row.PreviousID), Truncated: row.Truncated,
		Findings: make([]*prwardenv1.Finding, len(findings)),
		Skipped:  make([]*prwardenv1.Skip, len(skips)),
	}
	if row.FailureCode.Valid {
		out.Error = &prwardenv1.ReviewError{Code: row.FailureCode.String, Message: row.FailureMessage.String}
	}
	if row.Status == "complete" {
		out.Verdict = verdict(row.FailOn, summary)
	}
	for i, f := range findings {
		out.Findings[i] = &prwardenv1.Finding{
			RuleId: f.RuleID, File: f.File, Line: f.Line, EndLine: f.EndLine, Column: f.Column,
			Severity: prwardenv1.Severity_Level(prwardenv1.Severity_Level_value[f.Severity]).Enum(),
			Message:  f.Message, Snippet: f.Snippet, Fingerprint: f.Fingerprint,
			EndColumn: f.EndColumn, Utf16Column: f.UTF16, Utf16EndColumn: f.UTF16End, LineHash: given(f.LineHash),
			State: prwardenv1.Finding_State(prwardenv1.Finding_State_value[f.State]).Enum(),
		}
	}
	for i, s := range skips {
		out.Skipped[i] = &prwardenv1.Skip{
			File: s.File, RuleId: given(s.RuleID),
			Reason: prwardenv1.Skip_Reason(prwardenv1.Skip_Reason_value[s.Reason]).Enum(),
		}
		if s.Line > 0 {
			out.Skipped[i].Line = &s.Line
		}
	}
	return &prwardenv1.GetReviewResponse{Review: out}, nil
}

// verdict fails when there is a finding that is at least as severe, which has at
// most the number of the other one.
func verdict(failOn string, summary map[string]int32) *prwardenv1.Verdict {
	threshold := prwardenv1.Severity_Level(prwardenv1.Severity_Level_value[failOn])
	outcome := prwardenv1.Verdict_pass
	for word, n := range summary {
		if n > 0 && prwardenv1.Severity_Level(prwardenv1.Severity_Level_value[word]) <= threshold {
			outcome = prwardenv1.Verdict_fail
		}
	}
	return &prwardenv1.Verdict{Outcome: outcome.Enum(), Threshold: threshold.Enum()}
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
