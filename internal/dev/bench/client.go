package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// call makes a request of a REST API and returns the body of the answer.
func call(ctx context.Context, method, url, token, body string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header = headers(token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end

	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %s", method, url, response.Status, text)
	}
	return text, err
}

func headers(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
}

// review is what a benchmark reads of one.
type review struct {
	ID       string `json:"review_id"`
	Status   string `json:"status"`
	Findings []any  `json:"findings"`
	Error    any    `json:"error"`
}

func reviewsURL(p *process) string { return "http://" + p.address + "/v1/reviews" }

// creation is the body of a request for a review.
func creation(pull int) string { return fmt.Sprintf(`{"repo":%q,"pr_number":%d}`, repository, pull) }

func (i *installation) create(ctx context.Context, token string, pull int) (created review, err error) {
	text, err := call(ctx, http.MethodPost, reviewsURL(i.process), token, creation(pull))
	if err != nil {
		return review{}, err
	}
	return created, json.Unmarshal(text, &created)
}

// complete has a pull request of the first organization reviewed and waits for the end. took begins with the request
// and ends when the server says that the review has ended.
func (i *installation) complete(ctx context.Context, pull int) (done review, took time.Duration, err error) {
	began, token := time.Now(), i.tokens[0]
	created, err := i.create(ctx, token, pull)
	if err != nil {
		return review{}, 0, err
	}

	// The stream of a review's states ends with the review.
	url := reviewsURL(i.process) + "/" + created.ID
	if _, err := call(ctx, http.MethodGet, url+":watch", token, ""); err != nil {
		return review{}, 0, err
	}

	took = time.Since(began)
	text, err := call(ctx, http.MethodGet, url, token, "")
	if err != nil {
		return review{}, 0, err
	}
	err = json.Unmarshal(text, &done)
	if err == nil && done.Status != "complete" {
		err = fmt.Errorf("the review of pull request %d ended %s: %v", pull, done.Status, done.Error)
	}
	return done, took, err
}
