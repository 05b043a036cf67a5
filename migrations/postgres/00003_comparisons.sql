-- What reviews say beside their findings: what changed since the review before,
-- what comments suppress, and which commits were asked for.
--
-- Programs for version 2 work on, and so `oldest` stays: they see none of this,
-- and what they write has the defaults.

-- +goose Up

-- Whether the request named the commits, which head_sha and base_sha (or
-- base_ref, a branch) then are from the begin. The not_before of such a review
-- is far in the future for programs that would scan something else; see
-- afterAll in internal/store.
ALTER TABLE reviews ADD COLUMN commits_given BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE reviews ADD COLUMN base_ref TEXT NOT NULL DEFAULT '';

-- The least severity that fails, a severity word.
ALTER TABLE reviews ADD COLUMN fail_on TEXT NOT NULL DEFAULT 'high';

-- The review that findings are compared with; '' for none. Retention may have
-- deleted it.
ALTER TABLE reviews ADD COLUMN previous_id TEXT NOT NULL DEFAULT '';

-- Whether there is something in findings_apart, which most reviews have not.
ALTER TABLE reviews ADD COLUMN has_apart BOOLEAN NOT NULL DEFAULT FALSE;

-- Columns are 0 and the hash is '' where they are not known.
ALTER TABLE findings ADD COLUMN end_col INTEGER NOT NULL DEFAULT 0;
ALTER TABLE findings ADD COLUMN utf16_col INTEGER NOT NULL DEFAULT 0;
ALTER TABLE findings ADD COLUMN utf16_end_col INTEGER NOT NULL DEFAULT 0;
ALTER TABLE findings ADD COLUMN line_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE findings ADD COLUMN state TEXT NOT NULL DEFAULT 'new'; -- or existing

-- Findings that a complete review has beside those that it reports, in their
-- order: first those that comments suppress, then those that were fixed since
-- the review before. They have a table of their own because programs that don't
-- know them would report them.
CREATE TABLE findings_apart (
    review_id       TEXT    COLLATE "C" NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL, -- from 0
    kind            TEXT    NOT NULL CHECK (kind IN ('suppressed', 'fixed')),
    rule_id         TEXT    NOT NULL,
    severity        TEXT    NOT NULL
                    CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    file            BYTEA   NOT NULL,
    line            INTEGER NOT NULL,
    end_line        INTEGER NOT NULL,
    col             INTEGER NOT NULL,
    end_col         INTEGER NOT NULL,
    utf16_col       INTEGER NOT NULL,
    utf16_end_col   INTEGER NOT NULL,
    message         BYTEA   NOT NULL,
    snippet         BYTEA   NOT NULL,
    fingerprint     TEXT    NOT NULL,
    line_hash       TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('new', 'existing', 'fixed')),
    suppress_reason BYTEA   NOT NULL DEFAULT '', -- empty when the comment gives none
    suppress_until  TEXT    NOT NULL DEFAULT '', -- YYYY-MM-DD; '' for no end
    suppress_line   INTEGER NOT NULL DEFAULT 0, -- of the comment; 0 for none
    organization    TEXT    COLLATE "C" NOT NULL DEFAULT current_setting('prwarden.organization')
                    CHECK (organization NOT IN ('', '*')),
    PRIMARY KEY (review_id, position)
);

ALTER TABLE findings_apart ENABLE ROW LEVEL SECURITY;
ALTER TABLE findings_apart FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON findings_apart USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'))
    WITH CHECK (organization = (SELECT current_setting('prwarden.organization'))
        AND organization = (SELECT r.organization FROM reviews r WHERE r.id = review_id));

-- +goose Down
DROP TABLE findings_apart;
ALTER TABLE findings DROP COLUMN state;
ALTER TABLE findings DROP COLUMN line_hash;
ALTER TABLE findings DROP COLUMN utf16_end_col;
ALTER TABLE findings DROP COLUMN utf16_col;
ALTER TABLE findings DROP COLUMN end_col;
ALTER TABLE reviews DROP COLUMN has_apart;
ALTER TABLE reviews DROP COLUMN previous_id;
ALTER TABLE reviews DROP COLUMN fail_on;
ALTER TABLE reviews DROP COLUMN base_ref;
ALTER TABLE reviews DROP COLUMN commits_given;
