// Command example creates a rule, scans a pull request, watches the scan and
// prints what it found.
//
//	PRWARDEN_SERVER=https://prwarden.example.com:9090 PRWARDEN_API_KEY=prw_… go run . acme/shop 42
//
// PRWARDEN_CA_FILE names a file of certificates to trust instead of the public
// ones. The end is 0 when the pull request passes, 1 when it does not, 3 when
// something went wrong.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/prwarden/prwarden/gen/go/prwarden"
	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

func main() {
	passed, err := run(context.Background(), os.Stdout)
	switch {
	case err != nil:
		explain(os.Stderr, err)
		os.Exit(3)
	case !passed:
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) (passed bool, err error) {
	if len(os.Args) != 3 {
		return false, errors.New("usage: example OWNER/REPOSITORY NUMBER")
	}
	number, err := strconv.ParseInt(os.Args[2], 10, 32)
	if err != nil {
		return false, err
	}
	options := prwarden.Options{}
	if path := os.Getenv("PRWARDEN_CA_FILE"); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return false, err
		}
		options.TLS = &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
		options.TLS.RootCAs.AppendCertsFromPEM(pem)
	}
	client, err := prwarden.New(os.Getenv("PRWARDEN_SERVER"), os.Getenv("PRWARDEN_API_KEY"), options)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()

	rule := &prwardenv1.Rule{
		Id:       "no-unsafe-loader",
		Type:     prwardenv1.Rule_regex.Enum(),
		Pattern:  `yaml\.UnsafeLoader`,
		Message:  "Load settings with yaml.SafeLoader.",
		Severity: prwardenv1.Severity_medium.Enum(),
	}
	_, err = client.Rules.CreateRule(ctx, &prwardenv1.CreateRuleRequest{Rule: rule})
	switch {
	case err == nil:
		fmt.Fprintf(out, "rule %s created\n", rule.GetId())
	case prwarden.ErrorOf(err).Reason == "RULE_EXISTS":
		fmt.Fprintf(out, "rule %s exists already\n", rule.GetId())
	default:
		return false, err
	}
	review, err := scan(ctx, out, client, os.Args[1], int32(number))
	if err != nil {
		return false, err
	}
	if _, err := client.Rules.DeleteRule(ctx, &prwardenv1.DeleteRuleRequest{Id: rule.GetId()}); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "rule %s deleted\n", rule.GetId())
	return review.GetVerdict().GetOutcome() == prwardenv1.Verdict_pass, nil
}

func scan(ctx context.Context, out io.Writer, client *prwarden.Client, repo string, number int32) (*prwardenv1.Review,
	error) {
	starting, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	started, err := client.Reviews.CreateReview(starting, &prwardenv1.CreateReviewRequest{
		Repo: repo, PrNumber: number, FailOn: prwardenv1.Severity_high.Enum(),
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "review %s started\n", started.GetReviewId())
	for update, err := range client.Watch(ctx, started.GetReviewId()) {
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "watch: %s, %d files done\n", update.GetStatus(), update.GetFilesDone())
	}
	answer, err := client.Reviews.GetReview(ctx, &prwardenv1.GetReviewRequest{ReviewId: started.GetReviewId()})
	if err != nil {
		return nil, err
	}
	review := answer.GetReview()
	for _, f := range review.GetFindings() {
		fmt.Fprintf(out, "%s:%d:%d: %s %s (%s)\n    %s\n",
			f.GetFile(), f.GetLine(), f.GetColumn(), f.GetSeverity(), f.GetRuleId(), f.GetState(), f.GetMessage())
	}
	fmt.Fprintf(out, "%d findings, %d suppressed, %d fixed: %s at %s\n",
		len(review.GetFindings()), len(review.GetSuppressed()), len(review.GetFixed()),
		review.GetVerdict().GetOutcome(), review.GetVerdict().GetThreshold())
	return review, nil
}

func explain(out io.Writer, err error) {
	e := prwarden.ErrorOf(err)
	fmt.Fprintf(out, "failed: %s\n", e)
	for _, v := range e.Violations {
		fmt.Fprintf(out, "  %s: %s\n", v.Field, v.Description)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(out, "  try again in %.0f s\n", e.RetryAfter.Seconds())
	}
}
