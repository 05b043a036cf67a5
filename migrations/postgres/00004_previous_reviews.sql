-- The review before another of the same pull request; see 00003. Reviews are
-- many, so nobody waits while they are indexed. What a try left behind that was
-- broken off goes first.

-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS reviews_previous;
CREATE INDEX CONCURRENTLY reviews_previous ON reviews (organization, repo, pr_number, ruleset, created_at, id)
    WHERE status = 'complete';

-- +goose Down
DROP INDEX reviews_previous;
