-- Times are microseconds since 1970 in UTC. Texts that come from repositories
-- (paths, snippets, messages) are kept as bytes, because they need not be
-- UTF-8. Tables are STRICT: a value of the wrong type is an error.

-- +goose Up

-- What is counted for each organization. Each change of a review's state
-- changes the counts in the same transaction, so that neither the queue's
-- limit, nor its length, nor the fair claim counts rows.
CREATE TABLE organizations (
    name          TEXT    NOT NULL PRIMARY KEY,
    queued        INTEGER NOT NULL DEFAULT 0 CHECK (queued >= 0),      -- reviews that wait
    running       INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),     -- reviews in progress
    rules         INTEGER NOT NULL DEFAULT 0 CHECK (rules >= 0),       -- rows of rules
    rule_changes  INTEGER NOT NULL DEFAULT 0,                          -- changes of rules so far: their version
    served_at     INTEGER NOT NULL DEFAULT 0,                          -- last claim; 0 before the first
    max_running   INTEGER NOT NULL DEFAULT 0 CHECK (max_running >= 0), -- most scans at once; 0 for no cap
    rate_limit    INTEGER NOT NULL DEFAULT 0 CHECK (rate_limit >= 0),  -- requests a minute of its keys; 0 for the default
    settings      TEXT,                                                -- JSON; NULL while it is removed
    declared      INTEGER NOT NULL DEFAULT 0 CHECK (declared IN (0, 1))  -- whether a configuration file has it
) STRICT, WITHOUT ROWID;

-- Whose turn it is; see Claim.
CREATE INDEX organizations_turn ON organizations (running, served_at) WHERE queued > 0;

-- Reviews. The row is the job in the queue, too.
CREATE TABLE reviews (
    id              TEXT    NOT NULL PRIMARY KEY,
    organization    TEXT    NOT NULL REFERENCES organizations (name),
    repo            TEXT    NOT NULL,
    pr_number       INTEGER NOT NULL CHECK (pr_number >= 1),
    ruleset         TEXT    NOT NULL,
    status          TEXT    NOT NULL
                    CHECK (status IN ('queued', 'in_progress', 'complete', 'failed', 'canceled')),
    created_at      INTEGER NOT NULL,
    started_at      INTEGER,                     -- of the last attempt
    completed_at    INTEGER,                     -- when a final state was reached
    head_sha        TEXT    NOT NULL DEFAULT '',
    base_sha        TEXT    NOT NULL DEFAULT '',
    rules_digest    TEXT    NOT NULL DEFAULT '',
    summary         TEXT    NOT NULL DEFAULT '{}', -- JSON, severity word: count
    truncated       INTEGER NOT NULL DEFAULT 0 CHECK (truncated IN (0, 1)),
    failure_code    TEXT,
    failure_message BLOB,
    attempt         INTEGER NOT NULL DEFAULT 0,  -- rises with every claim: the fence
    failures        INTEGER NOT NULL DEFAULT 0,  -- scans that ended in a passing fault
    lost            INTEGER NOT NULL DEFAULT 0,  -- leases that ran out
    files_done      INTEGER NOT NULL DEFAULT 0,
    files_total     INTEGER NOT NULL DEFAULT 0,
    not_before      INTEGER NOT NULL DEFAULT 0,  -- not to be claimed earlier
    worker          TEXT    NOT NULL DEFAULT '', -- who claimed it last
    lease_expires   INTEGER,                     -- only in progress
    traceparent     TEXT    NOT NULL DEFAULT '', -- W3C trace context of the creation; '' for none
    -- Whether the request named the commits. head_sha and base_sha, or base_ref,
    -- a branch, are those then.
    commits_given   INTEGER NOT NULL DEFAULT 0 CHECK (commits_given IN (0, 1)),
    base_ref        TEXT    NOT NULL DEFAULT '',
    fail_on         TEXT    NOT NULL DEFAULT 'high', -- the least severity that fails
    created_by      TEXT    NOT NULL DEFAULT '', -- the actor, such as key:key_01k9
    previous_id     TEXT    NOT NULL DEFAULT '', -- the review that it is compared with; '' for none
    finding_rows    INTEGER NOT NULL DEFAULT 0,  -- in findings, of all kinds
    skip_rows       INTEGER NOT NULL DEFAULT 0,  -- in skips
    require_base    INTEGER NOT NULL DEFAULT 0 CHECK (require_base IN (0, 1)), -- fail rather than guess the base
    outcome         TEXT    NOT NULL DEFAULT ''  -- of the verdict; '' until complete
                    CHECK (outcome IN ('', 'pass', 'fail', 'incomplete')),
    not_looked_at   INTEGER NOT NULL DEFAULT 0,  -- skips that the verdict counts
    base_found_by   TEXT    NOT NULL DEFAULT '', -- '' until complete
    looked_at_files INTEGER NOT NULL DEFAULT 0,
    looked_at_lines INTEGER NOT NULL DEFAULT 0,  -- added ones
    looked_at_rules INTEGER NOT NULL DEFAULT 0,
    excluded_files  INTEGER NOT NULL DEFAULT 0,  -- changed ones, by the rules file
    switched_off    TEXT    NOT NULL DEFAULT 'null', -- JSON array: rules, by whom and how
    priority        INTEGER NOT NULL DEFAULT 0,  -- 0 is normal, 1 low
    due_at          INTEGER NOT NULL DEFAULT 0,  -- until then others go first
    CHECK ((status = 'in_progress') = (lease_expires IS NOT NULL)),
    CHECK ((status IN ('complete', 'failed', 'canceled')) = (completed_at IS NOT NULL)),
    CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL))
) STRICT;

-- Lists, newest first: all, of a state, of a repository or pull request.
CREATE INDEX reviews_created ON reviews (organization, created_at, id);
CREATE INDEX reviews_status ON reviews (organization, status, created_at, id);
CREATE INDEX reviews_repo ON reviews (organization, repo, created_at, id, pr_number);
CREATE INDEX reviews_pr_number ON reviews (organization, pr_number, created_at, id);

-- The queue, the next first; not_before is in it so that delayed reviews are passed
-- over without reading their rows.
CREATE INDEX reviews_queue ON reviews (organization, priority, due_at, id, not_before) WHERE status = 'queued';

-- Leases that may have run out.
CREATE INDEX reviews_lease ON reviews (lease_expires) WHERE status = 'in_progress';

-- What retention deletes, oldest first.
CREATE INDEX reviews_ended ON reviews (completed_at) WHERE completed_at IS NOT NULL;

-- The review before another one of the same pull request.
CREATE INDEX reviews_previous ON reviews (organization, repo, pr_number, ruleset, created_at, id)
    WHERE status = 'complete';

-- Findings of complete reviews, each kind in its order: those that are
-- reported, those that comments suppress, and those of the previous review that
-- are fixed.
CREATE TABLE findings (
    review_id       TEXT    NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    kind            TEXT    NOT NULL CHECK (kind IN ('reported', 'suppressed', 'fixed', 'observed')),
    position        INTEGER NOT NULL, -- among those of the kind, from 0
    rule_id         TEXT    NOT NULL,
    severity        TEXT    NOT NULL
                    CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    file            BLOB    NOT NULL,
    line            INTEGER NOT NULL,
    end_line        INTEGER NOT NULL,
    col             INTEGER NOT NULL, -- in bytes, from 1
    end_col         INTEGER NOT NULL,
    utf16_col       INTEGER NOT NULL,
    utf16_end_col   INTEGER NOT NULL,
    message         BLOB    NOT NULL,
    snippet         BLOB    NOT NULL,
    fingerprint     TEXT    NOT NULL,
    line_hash       TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('new', 'existing', 'fixed')),
    suppress_reason BLOB    NOT NULL, -- empty when the comment gives none
    suppress_until  TEXT    NOT NULL, -- YYYY-MM-DD; '' for no end
    suppress_line   INTEGER NOT NULL, -- of the comment; 0 for none
    PRIMARY KEY (review_id, kind, position)
) STRICT, WITHOUT ROWID;

-- What the scans of complete reviews did not look at, in its order.
CREATE TABLE skips (
    review_id TEXT    NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL, -- from 0
    file      BLOB    NOT NULL,
    line      INTEGER NOT NULL, -- 0 when not only a line
    rule_id   TEXT    NOT NULL, -- '' when not only a rule
    reason    TEXT    NOT NULL,
    severity  TEXT    NOT NULL, -- of the rule; '' when it is not about one
    tolerated INTEGER NOT NULL CHECK (tolerated IN (0, 1)),
    PRIMARY KEY (review_id, position)
) STRICT, WITHOUT ROWID;

-- Moving averages of the time from claim to completion, and of the size: a row for each
-- repository, one for each organization (repo ''), one for all (both '').
CREATE TABLE scan_durations (
    organization TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    average_us   INTEGER NOT NULL CHECK (average_us >= 0),
    average_bytes INTEGER NOT NULL CHECK (average_bytes >= 0), -- that the rules looked at
    samples      INTEGER NOT NULL CHECK (samples >= 1),
    PRIMARY KEY (organization, repo)
) STRICT, WITHOUT ROWID;

-- What rules found, by day and repository; a review adds to it when it finishes.
-- It outlives the reviews.
CREATE TABLE finding_days (
    organization TEXT    NOT NULL REFERENCES organizations (name),
    day          TEXT    NOT NULL, -- YYYY-MM-DD in UTC
    repo         TEXT    NOT NULL,
    rule_id      TEXT    NOT NULL, -- with its category
    severity     TEXT    NOT NULL
                 CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    found        INTEGER NOT NULL CHECK (found >= 0),      -- not known from the review before
    fixed        INTEGER NOT NULL CHECK (fixed >= 0),      -- reported by the review before, and gone
    suppressed   INTEGER NOT NULL CHECK (suppressed >= 0), -- by comments that the review before did not have
    work         INTEGER NOT NULL CHECK (work >= 0),       -- bytes that the engine looked at for the rule
    PRIMARY KEY (organization, day, repo, rule_id, severity)
) STRICT, WITHOUT ROWID;

-- Answers to creations that carried an idempotency key.
CREATE TABLE idempotency_keys (
    organization TEXT    NOT NULL,
    idem_key     TEXT    NOT NULL,
    request_hash TEXT    NOT NULL,
    review_id    TEXT    NOT NULL,
    estimated_ms INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, idem_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_expiry ON idempotency_keys (organization, expires_at);

-- Rules from the API. Lists are JSON arrays of strings.
CREATE TABLE rules (
    organization  TEXT    NOT NULL REFERENCES organizations (name),
    full_id       TEXT    NOT NULL, -- with its category
    id            TEXT    NOT NULL, -- as it was given
    type          TEXT    NOT NULL,
    pattern       TEXT    NOT NULL,
    message       TEXT    NOT NULL,
    severity      TEXT    NOT NULL
                  CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    scope         TEXT    NOT NULL CHECK (scope IN ('org', 'repo')),
    repo          TEXT    NOT NULL, -- '' with scope org
    paths_include TEXT    NOT NULL,
    paths_exclude TEXT    NOT NULL,
    multiline     INTEGER NOT NULL CHECK (multiline IN (0, 1)),
    redact        INTEGER NOT NULL CHECK (redact IN (0, 1)),
    cases_match   TEXT    NOT NULL,
    cases_no_match TEXT   NOT NULL,
    refs          TEXT    NOT NULL, -- where to read more
    languages     TEXT    NOT NULL,
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    mode          TEXT    NOT NULL CHECK (mode IN ('enforce', 'observe')),
    etag          TEXT    NOT NULL, -- of the content
    created_at    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL, -- such as `key:KEYID`
    updated_at    INTEGER NOT NULL,
    updated_by    TEXT    NOT NULL,
    PRIMARY KEY (organization, full_id),
    CHECK ((scope = 'repo') = (repo <> ''))
) STRICT, WITHOUT ROWID;

CREATE INDEX rules_repo ON rules (organization, repo, full_id);

-- What became of rules from the API, also of those that are gone. seq is the
-- organization's rule_changes then; the oldest rows go first.
CREATE TABLE rule_history (
    organization TEXT    NOT NULL,
    seq          INTEGER NOT NULL,
    full_id      TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    actor        TEXT    NOT NULL,
    action       TEXT    NOT NULL CHECK (action IN ('create', 'update', 'delete')),
    rule         TEXT    NOT NULL, -- JSON as its author writes it; '' when it is deleted
    PRIMARY KEY (organization, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX rule_history_rule ON rule_history (organization, full_id, seq);

-- What the last completed scan of a repository saw in its base's rules file.
CREATE TABLE rules_files (
    organization TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    rule_count   INTEGER NOT NULL CHECK (rule_count >= 1),
    rules        TEXT    NOT NULL, -- JSON array
    PRIMARY KEY (organization, repo)
) STRICT, WITHOUT ROWID;

-- Policies of organizations that have set one.
CREATE TABLE policies (
    organization TEXT    NOT NULL PRIMARY KEY REFERENCES organizations (name),
    document     TEXT    NOT NULL, -- JSON
    updated_at   INTEGER NOT NULL,
    updated_by   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- API keys, without their tokens.
CREATE TABLE api_keys (
    id           TEXT    NOT NULL PRIMARY KEY,
    organization TEXT    NOT NULL CHECK (organization <> ''),
    name         TEXT    NOT NULL,
    hash         TEXT    NOT NULL UNIQUE, -- SHA-256 of the token, in hexadecimal
    scopes       TEXT    NOT NULL,        -- JSON array of strings
    rate_limit   INTEGER NOT NULL CHECK (rate_limit >= 0), -- requests a minute; 0 for the default
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_at   INTEGER,
    created_by   TEXT    NOT NULL,        -- the actor, such as cli:root@server
    parent       TEXT    NOT NULL         -- the key that made it; '' for none
) STRICT;

CREATE INDEX api_keys_created ON api_keys (organization, created_at, id);
CREATE INDEX api_keys_parent ON api_keys (parent) WHERE parent <> '';

-- Who changed what. Only retention and the removal of an organization delete
-- from it, and nothing changes a row.
CREATE TABLE audit_events (
    organization TEXT    NOT NULL CHECK (organization <> ''), -- * for the whole installation
    at           INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    actor_kind   TEXT    NOT NULL CHECK (actor_kind IN ('user', 'key', 'cli', 'system')),
    actor        TEXT    NOT NULL, -- with its kind, such as key:key_01k9
    address      TEXT    NOT NULL, -- '' for none
    action       TEXT    NOT NULL,
    target       TEXT    NOT NULL,
    detail       TEXT    NOT NULL, -- JSON array of fields, before and after
    request_id   TEXT    NOT NULL, -- '' for none
    PRIMARY KEY (organization, at, id)
) STRICT, WITHOUT ROWID;

-- What retention deletes, oldest first, and the list of all organizations.
CREATE INDEX audit_events_at ON audit_events (at, id);

-- One row that readiness changes, to see whether the database can be written.
CREATE TABLE write_check (
    checks INTEGER NOT NULL
) STRICT;
INSERT INTO write_check (checks) VALUES (0);
