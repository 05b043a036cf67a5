package review

import (
	"context"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"

	"github.com/prwarden/prwarden/internal/errs"
)

// ListInput selects a page of reviews. Zero fields select all.
type ListInput struct {
	Repo      string
	PRNumber  int32
	Status    Status
	PageSize  int    // 1 to MaxPageSize; 0 for DefaultPageSize
	PageToken string // of the page before
}

// List returns a page of reviews, newest first, without findings, and the
// token of the next page; "" on the last.
func (s *Service) List(ctx context.Context, org string, in ListInput) ([]Review, string, error) {
	size := in.PageSize
	if size == 0 {
		size = DefaultPageSize
	}
	if size < 1 || size > MaxPageSize {
		return nil, "", errs.Invalid("page_size", "must be from 1 to %d, not %d", MaxPageSize, size)
	}
	f := Filter{Repo: in.Repo, PRNumber: in.PRNumber, Status: in.Status, Limit: size + 1}
	if in.PageToken != "" {
		after, ok := decodeToken(in.PageToken, f)
		if !ok {
			return nil, "", errs.Invalid("page_token", "must be the next_page_token of a page with the same filters")
		}
		f.After = after
	}
	reviews, err := s.store.ListReviews(ctx, org, f)
	if err != nil || len(reviews) <= size {
		return reviews, "", err
	}
	last := reviews[size-1]
	return reviews[:size], encodeToken(Cursor{CreatedAt: last.CreatedAt, ID: last.ID}, f), nil
}

// A token is the cursor and a checksum of the filters it belongs to. It grants
// nothing: the organization always comes from the caller's key.
func encodeToken(c Cursor, f Filter) string {
	plain := fmt.Sprintf("%d.%s.%08x", c.CreatedAt.UnixMicro(), c.ID, filterSum(f))
	return base64.RawURLEncoding.EncodeToString([]byte(plain))
}

func decodeToken(token string, f Filter) (Cursor, bool) {
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return Cursor{}, false
	}
	parts := strings.Split(string(plain), ".")
	if len(parts) != 3 || parts[1] == "" || parts[2] != fmt.Sprintf("%08x", filterSum(f)) {
		return Cursor{}, false
	}
	micros, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return Cursor{}, false
	}
	return Cursor{CreatedAt: time.UnixMicro(micros).UTC(), ID: parts[1]}, true
}

func filterSum(f Filter) uint32 {
	return crc32.ChecksumIEEE([]byte(strings.Join([]string{f.Repo, strconv.Itoa(int(f.PRNumber)), string(f.Status)}, "\x00")))
}
