package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/build"
	"github.com/prwarden/prwarden/internal/cli/report"
	"github.com/prwarden/prwarden/internal/cli/restclient"
	"github.com/prwarden/prwarden/internal/cli/terminal"
	"github.com/prwarden/prwarden/internal/config"
	"github.com/prwarden/prwarden/internal/review"
	"github.com/prwarden/prwarden/internal/tlsfile"
)

// ReviewInput is what the review command was asked for.
type ReviewInput struct {
	Repo    string // `owner/name`
	Number  string // pull request number, as it was given
	Ruleset string // "" for the repository's
	Wait    bool   // until the review has ended
	JSON    bool   // the server's answer instead of a table
}

// pollEvery is the time between two looks at a review whose watch stream
// broke. It leaves half of the usual rate limit to others.
const pollEvery = 2 * time.Second

// Review starts a review on a server and, when asked to, waits for it and
// shows what it found. It fails when the review did.
func Review(ctx context.Context, st Streams, c config.Client, in ReviewInput) error {
	number, err := parseNumber(in.Number)
	if err != nil {
		return err
	}
	if owner, name, ok := strings.Cut(in.Repo, "/"); !ok || owner == "" || name == "" {
		return Usagef("%q is not a repository; write OWNER/REPO", in.Repo)
	}
	key, err := apiKey(st, c)
	if err != nil {
		return err
	}
	config, err := clientTLS(c)
	if err != nil {
		return err
	}
	p := newProgress(st)
	client := restclient.New(c.Server, key, "prwarden/"+build.Read().Version, config, func(err error) {
		p.say("%s; trying again for up to %s", terminal.Safe(err.Error()), restclient.Patience)
	})

	created, raw, err := client.CreateReview(ctx, restclient.NewReview{Repo: in.Repo, PRNumber: number, Ruleset: in.Ruleset})
	if err != nil {
		return reviewError(err)
	}
	fmt.Fprintf(st.Err, "review %s %s, done in about %s\n", terminal.Safe(created.ReviewID), terminal.Safe(created.Status), expected(created.EstimatedMS))
	if !in.Wait {
		if in.JSON {
			return printJSON(st, raw)
		}
		fmt.Fprintln(st.Out, terminal.Safe(created.ReviewID))
		return nil
	}

	err = waitFor(ctx, client, created.ReviewID, p)
	var r restclient.Review
	if err == nil {
		r, raw, err = client.GetReview(ctx, created.ReviewID)
	}
	p.end()
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("stopped waiting; review %s goes on", terminal.Safe(created.ReviewID))
	case err != nil:
		return fmt.Errorf("waiting for review %s, which goes on: %w", terminal.Safe(created.ReviewID), reviewError(err))
	}
	return show(st, r, raw, in.JSON)
}

// clientTLS is what an https server must show and is shown; nil for what the
// system believes, which on Linux SSL_CERT_FILE changes too.
func clientTLS(c config.Client) (*tls.Config, error) {
	files := tlsfile.Files{Cert: c.ClientCert, Key: c.ClientKey, CA: c.CAFile}
	if files == (tlsfile.Files{}) {
		return nil, nil
	}
	loader, err := tlsfile.Load(files, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, Usagef("ca_file, client_cert and client_key: %v", err)
	}
	return loader.Client(tls.VersionTLS12), nil
}

func show(st Streams, r restclient.Review, raw []byte, asJSON bool) error {
	list := []report.Output{{Format: report.Table}}
	if asJSON {
		list[0].Format = report.JSON
	}
	out := report.Report{Review: r.Decoded(), Of: fmt.Sprintf("%s#%d", r.Repo, r.PRNumber), JSON: raw}
	if err := report.Write(list, out, st.Out, report.Style{Width: terminal.Width(st.Out, st.Lookup("COLUMNS"))}); err != nil {
		return err
	}
	switch {
	case out.Review.Status == review.Complete:
		return nil
	case asJSON:
		return errors.New(out.Summary())
	}
	return ErrSilent
}

// waitFor returns when the review has ended. It watches, and where the stream
// breaks, polls.
func waitFor(ctx context.Context, client *restclient.Client, id string, p *progress) error {
	final := false
	err := client.WatchReview(ctx, id, func(u restclient.Update) {
		final = final || restclient.Final(u.Status)
		p.update(u)
	})
	var refused *restclient.APIError
	switch {
	case final:
		return nil
	case errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden || refused.Status == http.StatusNotFound):
		return err
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		r, _, err := client.GetReview(ctx, id)
		switch {
		case err != nil:
			return err
		case restclient.Final(r.Status):
			return nil
		}
		p.update(restclient.Update{Status: r.Status})
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func parseNumber(text string) (int32, error) {
	n, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 32)
	if err != nil || n < 1 {
		return 0, Usagef("%q is not a pull request number; it must be from 1 to %d", text, math.MaxInt32)
	}
	return int32(n), nil
}

func apiKey(st Streams, c config.Client) (string, error) {
	if c.KeyFile == "" {
		if key := strings.TrimSpace(st.Lookup(config.EnvAPIKey)); key != "" {
			return key, nil
		}
		return "", Usagef("no API key: set %s or give --key-file; `prwarden keys create` on the server makes one", config.EnvAPIKey)
	}
	data, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return "", Usagef("the file with the API key can't be read: %w", err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" || strings.ContainsAny(key, " \r\n\t") {
		return "", Usagef("%s does not hold an API key and nothing else", c.KeyFile)
	}
	return key, nil
}

// reviewError tells a request that was wrong from a service that failed.
func reviewError(err error) error {
	var refused *restclient.APIError
	if errors.As(err, &refused) {
		refused.Message = terminal.Safe(refused.Message)
		switch refused.Status {
		case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
			return &UsageError{Err: err} // trying again as it is will not help
		}
	}
	return err
}

// expected rounds an estimate to what a person wants to know.
func expected(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < time.Second {
		return "1s"
	}
	return d.Round(time.Second).String()
}

func printJSON(st Streams, raw []byte) error {
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(raw), "", "  "); err != nil {
		return err
	}
	_, err := fmt.Fprintln(st.Out, terminal.SafeJSON(indented.Bytes()))
	return err
}
