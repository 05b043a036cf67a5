-- The review before another of the same pull request; see 00003.

-- +goose Up
CREATE INDEX reviews_previous ON reviews (organization, repo, pr_number, ruleset, created_at, id)
    WHERE status = 'complete';

-- +goose Down
DROP INDEX reviews_previous;
