-- Times are microseconds since 1970 in UTC. Texts that come from repositories
-- (paths, snippets, messages) are kept as bytes, because they need not be
-- UTF-8. Texts that are sorted or compared are COLLATE "C": their order is that
-- of their bytes, in every database.
--
-- Each transaction says in prwarden.organization for whom it works: the name
-- of an organization, or * for what belongs to all (the queue, keys by their
-- hash). Row-level security shows it nothing else, its owner included. A session
-- that never said it gets an error, so that no dump is empty by mistake; after
-- a transaction that did it is the empty string, which matches nothing.
-- (SELECT current_setting) is evaluated once a query instead of once a row.

-- +goose Up

-- What is counted for each organization. Each change of a review's state
-- changes the counts in the same transaction, so that neither the queue's
-- limit, nor its length, nor the fair claim counts rows.
CREATE TABLE organizations (
    name          TEXT    COLLATE "C" NOT NULL PRIMARY KEY CHECK (name NOT IN ('', '*')),
    queued        INTEGER NOT NULL DEFAULT 0 CHECK (queued >= 0),      -- reviews that wait
    running       INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0),     -- reviews in progress
    rules         INTEGER NOT NULL DEFAULT 0 CHECK (rules >= 0),       -- rows of rules
    rule_changes  BIGINT  NOT NULL DEFAULT 0,                          -- changes of rules so far: their version
    served_at     BIGINT  NOT NULL DEFAULT 0,                          -- last claim; 0 before the first
    max_running   INTEGER NOT NULL DEFAULT 0 CHECK (max_running >= 0), -- most scans at once; 0 for no cap
    rate_limit    INTEGER NOT NULL DEFAULT 0 CHECK (rate_limit >= 0),  -- requests a minute of its keys; 0 for the default
    settings      TEXT,                                                -- JSON; NULL while it is removed
    declared      BOOLEAN NOT NULL DEFAULT FALSE  -- whether a configuration file has it
) WITH (fillfactor = 50); -- room for new versions of a row beside it

-- Each claim and creation changes this table, so no index but the key's is on
-- it: new versions of a row stay beside it then, and go without vacuum.

-- Reviews. The row is the job in the queue, too.
CREATE TABLE reviews (
    id              TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    organization    TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    repo            TEXT    COLLATE "C" NOT NULL,
    pr_number       INTEGER NOT NULL CHECK (pr_number >= 1),
    ruleset         TEXT    NOT NULL,
    status          TEXT    COLLATE "C" NOT NULL
                    CHECK (status IN ('queued', 'in_progress', 'complete', 'failed', 'canceled')),
    created_at      BIGINT  NOT NULL,
    started_at      BIGINT,                      -- of the last attempt
    completed_at    BIGINT,                      -- when a final state was reached
    head_sha        TEXT    NOT NULL DEFAULT '',
    base_sha        TEXT    NOT NULL DEFAULT '',
    rules_digest    TEXT    NOT NULL DEFAULT '',
    summary         TEXT    NOT NULL DEFAULT '{}', -- JSON, severity word: count
    truncated       BOOLEAN NOT NULL DEFAULT FALSE,
    failure_code    TEXT,
    failure_message BYTEA,
    attempt         INTEGER NOT NULL DEFAULT 0,  -- rises with every claim: the fence
    failures        INTEGER NOT NULL DEFAULT 0,  -- scans that ended in a passing fault
    lost            INTEGER NOT NULL DEFAULT 0,  -- leases that ran out
    files_done      INTEGER NOT NULL DEFAULT 0,
    files_total     INTEGER NOT NULL DEFAULT 0,
    not_before      BIGINT  NOT NULL DEFAULT 0,  -- not to be claimed earlier
    worker          TEXT    NOT NULL DEFAULT '', -- who claimed it last
    lease_expires   BIGINT,                      -- only in progress
    traceparent     TEXT    NOT NULL DEFAULT '', -- W3C trace context of the creation; '' for none
    -- Whether the request named the commits. head_sha and base_sha, or base_ref,
    -- a branch, are those then.
    commits_given   BOOLEAN NOT NULL DEFAULT FALSE,
    base_ref        TEXT    NOT NULL DEFAULT '',
    fail_on         TEXT    NOT NULL DEFAULT 'high', -- the least severity that fails
    created_by      TEXT    NOT NULL DEFAULT '', -- the actor, such as key:key_01k9
    previous_id     TEXT    NOT NULL DEFAULT '', -- the review that it is compared with; '' for none
    finding_rows    INTEGER NOT NULL DEFAULT 0,  -- in findings, of all kinds
    skip_rows       INTEGER NOT NULL DEFAULT 0,  -- in skips
    require_base    BOOLEAN NOT NULL DEFAULT FALSE, -- fail rather than guess the base
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
    due_at          BIGINT  NOT NULL DEFAULT 0,  -- until then others go first
    CHECK ((status = 'in_progress') = (lease_expires IS NOT NULL)),
    CHECK ((status IN ('complete', 'failed', 'canceled')) = (completed_at IS NOT NULL)),
    CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL))
) WITH (
    fillfactor = 80, -- room for what heartbeats write
    -- A claim passes over what is left of those before it in reviews_queue, so
    -- vacuum must not wait for a fifth of all reviews to have changed.
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000
);

-- Lists, newest first: all, of a state, of a repository or pull request.
CREATE INDEX reviews_created ON reviews (organization, created_at, id);
CREATE INDEX reviews_status ON reviews (organization, status, created_at, id);
CREATE INDEX reviews_repo ON reviews (organization, repo, created_at, id, pr_number);
CREATE INDEX reviews_pr_number ON reviews (organization, pr_number, created_at, id);

-- The queue, the next first; not_before is in it so that delayed reviews are passed
-- over without reading their rows.
CREATE INDEX reviews_queue ON reviews (organization, priority, due_at, id, not_before) WHERE status = 'queued';

-- Leases that may have run out are looked for among all reviews in progress.
-- Heartbeats change the time each second, so no index is on it: new versions of
-- a row stay beside it then, and in no index.
CREATE INDEX reviews_running ON reviews (organization) WHERE status = 'in_progress';

-- What retention deletes, oldest first.
CREATE INDEX reviews_ended ON reviews (completed_at) WHERE completed_at IS NOT NULL;

-- The review before another one of the same pull request.
CREATE INDEX reviews_previous ON reviews (organization, repo, pr_number, ruleset, created_at, id)
    WHERE status = 'complete';

-- Findings of complete reviews, each kind in its order: those that are
-- reported, those that comments suppress, and those of the previous review that
-- are fixed. The organization is that of the transaction that writes them.
CREATE TABLE findings (
    review_id       TEXT    COLLATE "C" NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    kind            TEXT    COLLATE "C" NOT NULL CHECK (kind IN ('reported', 'suppressed', 'fixed', 'observed')),
    position        INTEGER NOT NULL, -- among those of the kind, from 0
    rule_id         TEXT    NOT NULL,
    severity        TEXT    NOT NULL
                    CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    file            BYTEA   NOT NULL,
    line            INTEGER NOT NULL,
    end_line        INTEGER NOT NULL,
    col             INTEGER NOT NULL, -- in bytes, from 1
    end_col         INTEGER NOT NULL,
    utf16_col       INTEGER NOT NULL,
    utf16_end_col   INTEGER NOT NULL,
    message         BYTEA   NOT NULL,
    snippet         BYTEA   NOT NULL,
    fingerprint     TEXT    NOT NULL,
    line_hash       TEXT    NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('new', 'existing', 'fixed')),
    suppress_reason BYTEA   NOT NULL, -- empty when the comment gives none
    suppress_until  TEXT    NOT NULL, -- YYYY-MM-DD; '' for no end
    suppress_line   INTEGER NOT NULL, -- of the comment; 0 for none
    organization    TEXT    COLLATE "C" NOT NULL DEFAULT current_setting('prwarden.organization')
                    CHECK (organization NOT IN ('', '*')),
    PRIMARY KEY (review_id, kind, position)
);

-- What the scans of complete reviews did not look at, in its order.
CREATE TABLE skips (
    review_id    TEXT    COLLATE "C" NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    position     INTEGER NOT NULL, -- from 0
    file         BYTEA   NOT NULL,
    line         INTEGER NOT NULL, -- 0 when not only a line
    rule_id      TEXT    NOT NULL, -- '' when not only a rule
    reason       TEXT    NOT NULL,
    severity     TEXT    NOT NULL, -- of the rule; '' when it is not about one
    tolerated    BOOLEAN NOT NULL,
    organization TEXT    COLLATE "C" NOT NULL DEFAULT current_setting('prwarden.organization')
                 CHECK (organization NOT IN ('', '*')),
    PRIMARY KEY (review_id, position)
);

-- Moving averages of the time from claim to completion, and of the size: a row for each
-- repository, one for each organization (repo ''), one for all (both '').
CREATE TABLE scan_durations (
    organization TEXT    COLLATE "C" NOT NULL,
    repo         TEXT    COLLATE "C" NOT NULL,
    average_us   BIGINT  NOT NULL CHECK (average_us >= 0),
    average_bytes BIGINT NOT NULL CHECK (average_bytes >= 0), -- that the rules looked at
    samples      INTEGER NOT NULL CHECK (samples >= 1),
    PRIMARY KEY (organization, repo)
) WITH (fillfactor = 50);

-- What rules found, by day and repository; a review adds to it when it finishes.
-- It outlives the reviews.
CREATE TABLE finding_days (
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    day          TEXT    COLLATE "C" NOT NULL, -- YYYY-MM-DD in UTC
    repo         TEXT    COLLATE "C" NOT NULL,
    rule_id      TEXT    COLLATE "C" NOT NULL, -- with its category
    severity     TEXT    COLLATE "C" NOT NULL
                 CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    found        INTEGER NOT NULL CHECK (found >= 0),      -- not known from the review before
    fixed        INTEGER NOT NULL CHECK (fixed >= 0),      -- reported by the review before, and gone
    suppressed   INTEGER NOT NULL CHECK (suppressed >= 0), -- by comments that the review before did not have
    work         BIGINT  NOT NULL CHECK (work >= 0),       -- bytes that the engine looked at for the rule
    PRIMARY KEY (organization, day, repo, rule_id, severity)
) WITH (fillfactor = 80);

-- Answers to creations that carried an idempotency key.
CREATE TABLE idempotency_keys (
    organization TEXT    COLLATE "C" NOT NULL,
    idem_key     TEXT    COLLATE "C" NOT NULL,
    request_hash TEXT    NOT NULL,
    review_id    TEXT    NOT NULL,
    estimated_ms INTEGER NOT NULL,
    expires_at   BIGINT  NOT NULL,
    PRIMARY KEY (organization, idem_key)
);

CREATE INDEX idempotency_keys_expiry ON idempotency_keys (organization, expires_at);

-- Rules from the API. Lists are JSON arrays of strings.
CREATE TABLE rules (
    organization  TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    full_id       TEXT    COLLATE "C" NOT NULL, -- with its category
    id            TEXT    NOT NULL, -- as it was given
    type          TEXT    NOT NULL,
    pattern       TEXT    NOT NULL,
    message       TEXT    NOT NULL,
    severity      TEXT    NOT NULL
                  CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    scope         TEXT    NOT NULL CHECK (scope IN ('org', 'repo')),
    repo          TEXT    COLLATE "C" NOT NULL, -- '' with scope org
    paths_include TEXT    NOT NULL,
    paths_exclude TEXT    NOT NULL,
    multiline     BOOLEAN NOT NULL,
    redact        BOOLEAN NOT NULL,
    cases_match   TEXT    NOT NULL,
    cases_no_match TEXT   NOT NULL,
    refs          TEXT    NOT NULL, -- where to read more
    languages     TEXT    NOT NULL,
    enabled       BOOLEAN NOT NULL,
    mode          TEXT    NOT NULL CHECK (mode IN ('enforce', 'observe')),
    etag          TEXT    NOT NULL, -- of the content
    created_at    BIGINT  NOT NULL,
    created_by    TEXT    NOT NULL, -- such as `key:KEYID`
    updated_at    BIGINT  NOT NULL,
    updated_by    TEXT    NOT NULL,
    PRIMARY KEY (organization, full_id),
    CHECK ((scope = 'repo') = (repo <> ''))
);

CREATE INDEX rules_repo ON rules (organization, repo, full_id);

-- What became of rules from the API, also of those that are gone. seq is the
-- organization's rule_changes then; the oldest rows go first.
CREATE TABLE rule_history (
    organization TEXT    COLLATE "C" NOT NULL,
    seq          BIGINT  NOT NULL,
    full_id      TEXT    COLLATE "C" NOT NULL,
    at           BIGINT  NOT NULL,
    actor        TEXT    NOT NULL,
    action       TEXT    NOT NULL CHECK (action IN ('create', 'update', 'delete')),
    rule         TEXT    NOT NULL, -- JSON as its author writes it; '' when it is deleted
    PRIMARY KEY (organization, seq)
);

CREATE INDEX rule_history_rule ON rule_history (organization, full_id, seq);

-- What the last completed scan of a repository saw in its base's rules file.
CREATE TABLE rules_files (
    organization TEXT    COLLATE "C" NOT NULL,
    repo         TEXT    COLLATE "C" NOT NULL,
    rule_count   INTEGER NOT NULL CHECK (rule_count >= 1),
    rules        TEXT    NOT NULL, -- JSON array
    PRIMARY KEY (organization, repo)
);

-- Policies of organizations that have set one.
CREATE TABLE policies (
    organization TEXT    COLLATE "C" NOT NULL PRIMARY KEY REFERENCES organizations (name),
    document     TEXT    NOT NULL, -- JSON
    updated_at   BIGINT  NOT NULL,
    updated_by   TEXT    NOT NULL
);

-- API keys, without their tokens.
CREATE TABLE api_keys (
    id           TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    organization TEXT    COLLATE "C" NOT NULL CHECK (organization NOT IN ('', '*')),
    name         TEXT    NOT NULL,
    hash         TEXT    COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the token, in hexadecimal
    scopes       TEXT    NOT NULL,        -- JSON array of strings
    rate_limit   INTEGER NOT NULL CHECK (rate_limit >= 0), -- requests a minute; 0 for the default
    created_at   BIGINT  NOT NULL,
    expires_at   BIGINT,
    last_used_at BIGINT,
    revoked_at   BIGINT,
    created_by   TEXT    NOT NULL,        -- the actor, such as cli:root@server
    parent       TEXT    COLLATE "C" NOT NULL -- the key that made it; '' for none
);

CREATE INDEX api_keys_created ON api_keys (organization, created_at, id);
CREATE INDEX api_keys_parent ON api_keys (parent) WHERE parent <> '';

-- Who changed what. Only retention and the removal of an organization delete
-- from it, and nothing changes a row.
CREATE TABLE audit_events (
    organization TEXT   COLLATE "C" NOT NULL CHECK (organization <> ''), -- * for the whole installation
    at           BIGINT NOT NULL,
    id           TEXT   COLLATE "C" NOT NULL,
    actor_kind   TEXT   NOT NULL CHECK (actor_kind IN ('user', 'key', 'cli', 'system')),
    actor        TEXT   COLLATE "C" NOT NULL, -- with its kind, such as key:key_01k9
    address      TEXT   NOT NULL, -- '' for none
    action       TEXT   COLLATE "C" NOT NULL,
    target       TEXT   NOT NULL,
    detail       TEXT   NOT NULL, -- JSON array of fields, before and after
    request_id   TEXT   NOT NULL, -- '' for none
    PRIMARY KEY (organization, at, id)
);

-- What retention deletes, oldest first, and the list of all organizations.
CREATE INDEX audit_events_at ON audit_events (at, id);

-- Requests of the running window, by key and by organization. After a crash of
-- the database it is empty, and windows begin anew.
CREATE UNLOGGED TABLE rate_limits (
    name       TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    window_end BIGINT  NOT NULL,
    taken      INTEGER NOT NULL
) WITH (fillfactor = 50);

-- One row that readiness changes, to see whether the database can be written.
CREATE TABLE write_check (
    checks BIGINT NOT NULL
);
INSERT INTO write_check (checks) VALUES (0);

ALTER TABLE organizations    ENABLE ROW LEVEL SECURITY;
ALTER TABLE organizations    FORCE ROW LEVEL SECURITY;
ALTER TABLE reviews          ENABLE ROW LEVEL SECURITY;
ALTER TABLE reviews          FORCE ROW LEVEL SECURITY;
ALTER TABLE findings         ENABLE ROW LEVEL SECURITY;
ALTER TABLE findings         FORCE ROW LEVEL SECURITY;
ALTER TABLE skips            ENABLE ROW LEVEL SECURITY;
ALTER TABLE skips            FORCE ROW LEVEL SECURITY;
ALTER TABLE scan_durations   ENABLE ROW LEVEL SECURITY;
ALTER TABLE scan_durations   FORCE ROW LEVEL SECURITY;
ALTER TABLE finding_days     ENABLE ROW LEVEL SECURITY;
ALTER TABLE finding_days     FORCE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys FORCE ROW LEVEL SECURITY;
ALTER TABLE rules            ENABLE ROW LEVEL SECURITY;
ALTER TABLE rules            FORCE ROW LEVEL SECURITY;
ALTER TABLE rule_history     ENABLE ROW LEVEL SECURITY;
ALTER TABLE rule_history     FORCE ROW LEVEL SECURITY;
ALTER TABLE rules_files      ENABLE ROW LEVEL SECURITY;
ALTER TABLE rules_files      FORCE ROW LEVEL SECURITY;
ALTER TABLE policies         ENABLE ROW LEVEL SECURITY;
ALTER TABLE policies         FORCE ROW LEVEL SECURITY;
ALTER TABLE api_keys         ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys         FORCE ROW LEVEL SECURITY;
ALTER TABLE audit_events     ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_events     FORCE ROW LEVEL SECURITY;

CREATE POLICY own ON organizations USING
    ((SELECT current_setting('prwarden.organization')) IN (name, '*'));
CREATE POLICY own ON reviews USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
-- What is written belongs to a review that the writer sees, too.
CREATE POLICY own ON findings USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'))
    WITH CHECK (organization = (SELECT current_setting('prwarden.organization'))
        AND organization = (SELECT r.organization FROM reviews r WHERE r.id = review_id));
CREATE POLICY own ON skips USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'))
    WITH CHECK (organization = (SELECT current_setting('prwarden.organization'))
        AND organization = (SELECT r.organization FROM reviews r WHERE r.id = review_id));
-- The average over all organizations is everybody's. Its organization is the
-- empty string, like that of nobody.
CREATE POLICY own ON scan_durations USING
    ((SELECT current_setting('prwarden.organization')) <> ''
     AND (organization = '' OR (SELECT current_setting('prwarden.organization')) IN (organization, '*')));
CREATE POLICY own ON finding_days USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON idempotency_keys USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON rules USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON rule_history USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON rules_files USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON policies USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON api_keys USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON audit_events USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
