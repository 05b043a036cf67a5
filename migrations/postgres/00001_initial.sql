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
    publish         TEXT    NOT NULL DEFAULT '{}', -- what the base's rules file wants less of in the pull request, as JSON
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
    generated_files INTEGER NOT NULL DEFAULT 0,  -- in which some rules did not look for that
    minified_files  INTEGER NOT NULL DEFAULT 0,
    vendored_files  INTEGER NOT NULL DEFAULT 0,
    excluded_files  INTEGER NOT NULL DEFAULT 0,  -- changed ones, by the rules file
    switched_off    TEXT    NOT NULL DEFAULT 'null', -- JSON array: rules, by whom and how
    priority        INTEGER NOT NULL DEFAULT 0 CHECK (priority IN (0, 1)), -- normal, low
    due_at          BIGINT  NOT NULL DEFAULT 0,  -- until then others go first
    -- Title and author of the pull request where the code host told them, else subject
    -- and author of the head commit; '' until known.
    head_title      TEXT    NOT NULL DEFAULT '',
    head_author     TEXT    NOT NULL DEFAULT '',
    search          TEXT    NOT NULL DEFAULT '', -- repo#pr_number, title and author, in lower case
    new_total        INTEGER NOT NULL DEFAULT 0, -- reported findings that are new
    fixed_total      INTEGER NOT NULL DEFAULT 0,
    suppressed_total INTEGER NOT NULL DEFAULT 0,
    latest          BOOLEAN NOT NULL DEFAULT FALSE, -- of the complete ones of its pull request
    standing        TEXT    NOT NULL GENERATED ALWAYS AS ( -- what reviews are counted by
                    CASE WHEN status IN ('queued', 'in_progress') THEN 'running' WHEN status <> 'complete' THEN 'not_scanned'
                    WHEN outcome = '' THEN 'incomplete' ELSE outcome END) STORED,
    -- Findings of summary that nobody has set aside. The verdict is decided by them.
    open_critical   INTEGER NOT NULL DEFAULT 0,
    open_high       INTEGER NOT NULL DEFAULT 0,
    open_medium     INTEGER NOT NULL DEFAULT 0,
    open_warning    INTEGER NOT NULL DEFAULT 0,
    open_low        INTEGER NOT NULL DEFAULT 0,
    open_info       INTEGER NOT NULL DEFAULT 0,
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

-- Lists, newest first: all, of a state or standing, of a repository or pull request.
-- With the standing, reviews of a repository are counted in the index alone.
CREATE INDEX reviews_created ON reviews (organization, created_at, id);
CREATE INDEX reviews_status ON reviews (organization, status, created_at, id);
CREATE INDEX reviews_standing ON reviews (organization, standing, created_at, id);
CREATE INDEX reviews_repo ON reviews (organization, repo, created_at, id, standing);
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

-- What is open of an organization: the findings of the latest review of each pull
-- request, whatever its ruleset.
CREATE UNIQUE INDEX reviews_latest ON reviews (organization, repo, pr_number) WHERE latest;

-- How much that is, in the index alone.
CREATE INDEX reviews_open ON reviews (organization, repo, pr_number, open_critical, open_high, open_medium, open_warning,
    open_low, open_info) WHERE latest;

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
    confidence      TEXT    NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    steps           TEXT    NOT NULL DEFAULT 'null', -- JSON: the way of a value to the finding
    fix             TEXT    NOT NULL DEFAULT 'null', -- JSON: lines that the rule has in place of what it found
    decision        TEXT    NOT NULL DEFAULT 'open' -- that the verdict counts
                    CHECK (decision IN ('open', 'accepted', 'false_positive', 'wont_fix')),
    triage          TEXT    NOT NULL DEFAULT 'null', -- JSON: the decision, by whom and why
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
    accepted       INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0), -- decisions that were made that day and stand
    false_positive INTEGER NOT NULL DEFAULT 0 CHECK (false_positive >= 0),
    wont_fix       INTEGER NOT NULL DEFAULT 0 CHECK (wont_fix >= 0),
    fix_seconds    BIGINT  NOT NULL DEFAULT 0 CHECK (fix_seconds >= 0), -- from the first sight of those fixed
    PRIMARY KEY (organization, day, repo, rule_id, severity)
) WITH (fillfactor = 80);

-- By how much a day changed what is open: in the latest reviews of pull requests, which
-- say what is open now. It outlives the reviews.
CREATE TABLE open_days (
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    day          TEXT    COLLATE "C" NOT NULL, -- YYYY-MM-DD in UTC
    repo         TEXT    COLLATE "C" NOT NULL,
    severity     TEXT    COLLATE "C" NOT NULL
                 CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    change       INTEGER NOT NULL,
    PRIMARY KEY (organization, day, repo, severity)
) WITH (fillfactor = 80);

-- Since when a pull request has a finding, and when it was fixed. It goes with the last
-- review of the pull request.
CREATE TABLE finding_lives (
    organization  TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    repo          TEXT    COLLATE "C" NOT NULL,
    pr_number     INTEGER NOT NULL,
    fingerprint   TEXT    COLLATE "C" NOT NULL,
    rule_id       TEXT    COLLATE "C" NOT NULL, -- with its category
    severity      TEXT    COLLATE "C" NOT NULL
                  CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    first_seen_at BIGINT  NOT NULL,
    last_seen_at  BIGINT  NOT NULL,
    fixed_at      BIGINT , -- NULL unless it is fixed
    PRIMARY KEY (organization, repo, pr_number, fingerprint)
) WITH (fillfactor = 80);

-- What was fixed in a time.
CREATE INDEX finding_lives_fixed ON finding_lives (organization, fixed_at) WHERE fixed_at IS NOT NULL;

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
    places        TEXT    NOT NULL, -- where matches count
    multiline     BOOLEAN NOT NULL,
    redact        BOOLEAN NOT NULL,
    cases_match   TEXT    NOT NULL,
    cases_no_match TEXT   NOT NULL,
    refs          TEXT    NOT NULL, -- where to read more
    languages     TEXT    NOT NULL,
    skip          TEXT    NOT NULL, -- kinds of files that it does not look at
    conditions    TEXT    NOT NULL, -- what decides about matches, rules that it supersedes, its fix
    confidence    TEXT    NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    enabled       BOOLEAN NOT NULL,
    mode          TEXT    NOT NULL CHECK (mode IN ('enforce', 'observe')),
    etag          TEXT    NOT NULL, -- of the content
    size          INTEGER NOT NULL, -- of the document in bytes, as JSON
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

-- How organizations reach their code hosts.
CREATE TABLE connections (
    id           TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    name         TEXT    COLLATE "C" NOT NULL,
    kind         TEXT    NOT NULL,
    settings     TEXT    NOT NULL, -- JSON: addresses, repositories, account
    sealed       BYTEA   NOT NULL, -- secrets, which a key of the operator seals
    state        TEXT    NOT NULL CHECK (state IN ('active', 'suspended', 'broken')),
    reason       TEXT    NOT NULL, -- why it is broken; '' when it isn't
    missing      TEXT    NOT NULL, -- JSON array: permissions, at the last test
    declared     BOOLEAN NOT NULL, -- whether a configuration file has it
    trusted      BOOLEAN NOT NULL,  -- whether the operator chose its addresses
    created_at   BIGINT  NOT NULL,
    created_by   TEXT    NOT NULL, -- the actor, such as key:key_01k9
    updated_at   BIGINT  NOT NULL,
    tested_at    BIGINT,           -- NULL for never
    UNIQUE (organization, name)
);

CREATE INDEX connections_created ON connections (organization, created_at, id);

-- Policies of organizations that have set one.
CREATE TABLE policies (
    organization TEXT    COLLATE "C" NOT NULL PRIMARY KEY REFERENCES organizations (name),
    document     TEXT    NOT NULL, -- JSON
    updated_at   BIGINT  NOT NULL,
    updated_by   TEXT    NOT NULL
);

-- What is decided about findings. pr_number is 0 for all of the repository.
CREATE TABLE triage (
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    repo         TEXT    COLLATE "C" NOT NULL,
    fingerprint  TEXT    COLLATE "C" NOT NULL,
    pr_number    INTEGER NOT NULL CHECK (pr_number >= 0),
    rule_id      TEXT    NOT NULL,
    severity     TEXT    COLLATE "C" NOT NULL,
    decision     TEXT    NOT NULL CHECK (decision IN ('accepted', 'false_positive', 'wont_fix')),
    reason       TEXT    NOT NULL,
    until        TEXT    COLLATE "C" NOT NULL, -- YYYY-MM-DD; '' for no end
    actor        TEXT    NOT NULL,
    change_id    TEXT    COLLATE "C" NOT NULL,
    decided_at   BIGINT  NOT NULL,
    PRIMARY KEY (organization, repo, fingerprint, pr_number)
);

-- The list, newest first.
CREATE INDEX triage_decided ON triage (organization, decided_at);

-- What decisions replaced, as long as they can be undone.
CREATE TABLE triage_changes (
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    change_id    TEXT    COLLATE "C" NOT NULL,
    fingerprint  TEXT    COLLATE "C" NOT NULL,
    repo         TEXT    NOT NULL,
    pr_number    INTEGER NOT NULL,
    decision     TEXT    NOT NULL, -- that was made; open took one back
    before       TEXT    NOT NULL, -- JSON; null for none
    changed_at   BIGINT  NOT NULL,
    PRIMARY KEY (organization, change_id, fingerprint)
);

-- What retention deletes.
CREATE INDEX triage_changes_at ON triage_changes (changed_at);

-- Comments of code hosts whose commands were done, so that none is done twice.
CREATE TABLE commands (
    organization  TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    connection_id TEXT    COLLATE "C" NOT NULL,
    name          TEXT    COLLATE "C" NOT NULL, -- unique in the connection
    handled_at    BIGINT  NOT NULL,
    PRIMARY KEY (organization, connection_id, name)
);

-- What retention deletes.
CREATE INDEX commands_at ON commands (handled_at);

-- Pull requests of connections, as their hosts had them when they were last read,
-- and how far publishing them is. Whatever there is to publish raises want; a
-- publisher that has published it sets done.
CREATE TABLE pull_requests (
    organization    TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    repo            TEXT    COLLATE "C" NOT NULL, -- as reviews have it
    number          INTEGER NOT NULL CHECK (number >= 1),
    connection_id   TEXT    COLLATE "C" NOT NULL,
    repo_id         TEXT    NOT NULL, -- the host's; '' while it isn't known
    private         BOOLEAN NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    title           BYTEA   NOT NULL,
    author          BYTEA   NOT NULL, -- login
    author_id       TEXT    NOT NULL,
    head_sha        TEXT    NOT NULL,
    base_sha        TEXT    NOT NULL,
    base_ref        BYTEA   NOT NULL, -- branch
    merge_base      TEXT    NOT NULL,
    draft           BOOLEAN NOT NULL,
    fork            BOOLEAN NOT NULL,
    labels          BYTEA   NOT NULL, -- JSON array
    url             TEXT    NOT NULL,
    host_updated_at BIGINT  NOT NULL, -- by the host's clock; 0 when it doesn't say
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL, -- of the row, leases aside
    want            BIGINT  NOT NULL DEFAULT 0,
    done            BIGINT  NOT NULL DEFAULT 0,
    wanted_at       BIGINT  NOT NULL DEFAULT 0,
    owner           TEXT    NOT NULL DEFAULT '', -- the claim; '' for none
    lease_until     BIGINT  NOT NULL DEFAULT 0,
    not_before      BIGINT  NOT NULL DEFAULT 0,
    failures        INTEGER NOT NULL DEFAULT 0,  -- in a row
    failing_from    BIGINT ,                     -- the first of these
    published_at    BIGINT ,
    problem         TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (organization, repo, number)
) WITH (fillfactor = 70);

CREATE INDEX pull_requests_created ON pull_requests (organization, created_at, repo, number);
CREATE INDEX pull_requests_wanted ON pull_requests (wanted_at) WHERE want > done;

-- What retention deletes, oldest first.
CREATE INDEX pull_requests_updated ON pull_requests (updated_at);

-- Comments on lines that were posted once.
CREATE TABLE threads (
    organization TEXT    COLLATE "C" NOT NULL,
    repo         TEXT    COLLATE "C" NOT NULL,
    number       INTEGER NOT NULL,
    fingerprint  TEXT    COLLATE "C" NOT NULL,
    ref          TEXT    NOT NULL, -- '' while it isn't known
    thread       TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('open', 'fixed', 'dismissed', 'deleted_by_user', 'refused')),
    rule_id      TEXT    NOT NULL,
    path         BYTEA   NOT NULL,
    updated_at   BIGINT  NOT NULL,
    PRIMARY KEY (organization, repo, number, fingerprint),
    FOREIGN KEY (organization, repo, number) REFERENCES pull_requests (organization, repo, number)
        ON DELETE CASCADE ON UPDATE CASCADE
);

-- What the check and the summary of a pull request were last given, and the check of
-- an earlier head while that is pending.
CREATE TABLE published (
    organization TEXT    COLLATE "C" NOT NULL,
    repo         TEXT    COLLATE "C" NOT NULL,
    number       INTEGER NOT NULL,
    sink         TEXT    COLLATE "C" NOT NULL CHECK (sink IN ('check', 'outdated', 'summary')),
    ref          TEXT    NOT NULL, -- '' while it isn't known
    head_sha     TEXT    NOT NULL,
    review_id    TEXT    NOT NULL,
    verdict      TEXT    NOT NULL, -- '' of the summary
    deleted      BOOLEAN NOT NULL, -- by a person
    PRIMARY KEY (organization, repo, number, sink),
    FOREIGN KEY (organization, repo, number) REFERENCES pull_requests (organization, repo, number)
        ON DELETE CASCADE ON UPDATE CASCADE
);

-- The calls that publishers make with a connection, so that all servers together keep
-- to its host's limits.
CREATE TABLE connection_calls (
    organization  TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    connection_id TEXT    COLLATE "C" NOT NULL,
    served_at     BIGINT  NOT NULL DEFAULT 0, -- last claim of one of its pull requests
    not_before    BIGINT  NOT NULL DEFAULT 0, -- none is claimed earlier
    next_at       BIGINT  NOT NULL DEFAULT 0, -- of the next call that writes
    hour_end      BIGINT  NOT NULL DEFAULT 0, -- of the hour in which calls are counted
    hour_calls    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, connection_id)
) WITH (fillfactor = 70);

-- What code hosts told, or a sweep found, without bodies. hints is emptied when a
-- delivery is worked off.
CREATE TABLE deliveries (
    organization  TEXT    COLLATE "C" NOT NULL,
    connection_id TEXT    COLLATE "C" NOT NULL,
    id            TEXT    COLLATE "C" NOT NULL, -- of the host, or of a sweep
    event         TEXT    NOT NULL, -- kinds of its hints
    subject       TEXT    COLLATE "C" NOT NULL, -- the pull request that all of it is about; '' for none
    hints         TEXT    NOT NULL, -- JSON array
    received_at   BIGINT  NOT NULL,
    outcome       TEXT    NOT NULL CHECK (outcome IN ('waiting', 'done', 'ignored', 'failed')),
    reason        TEXT    NOT NULL, -- why it waits again, is ignored or failed; '' for none
    attempt       INTEGER NOT NULL DEFAULT 0, -- rises with every claim: the fence
    lease_until   BIGINT  NOT NULL DEFAULT 0,
    not_before    BIGINT  NOT NULL,           -- not to be claimed earlier
    PRIMARY KEY (organization, connection_id, id)
);

-- What waits, the next first; what is worked off of a pull request; and what retention
-- deletes, oldest first.
CREATE INDEX deliveries_waiting ON deliveries (not_before, received_at) WHERE outcome = 'waiting';
CREATE INDEX deliveries_subject ON deliveries (connection_id, subject, received_at) WHERE outcome = 'waiting';
CREATE INDEX deliveries_received ON deliveries (received_at);

-- How far the sweeps of a connection are, which find what was not delivered.
CREATE TABLE sweeps (
    organization  TEXT    COLLATE "C" NOT NULL,
    connection_id TEXT    COLLATE "C" NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
    due_at        BIGINT  NOT NULL, -- the next; during one the end of its lease
    looked_at     BIGINT  NOT NULL, -- last, for deliveries that did not arrive
    swept_at      BIGINT  NOT NULL, -- last
    since         BIGINT  NOT NULL, -- pull requests that changed since then are looked for
    round_at      BIGINT  NOT NULL, -- begin of the round through all repositories
    place         TEXT    NOT NULL  -- the last repository of the round; '' for none
);

-- Receivers of an organization's events.
CREATE TABLE webhooks (
    id            TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    organization  TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    name          TEXT    NOT NULL,
    url           TEXT    NOT NULL, -- without what may be secret in it
    events        TEXT    NOT NULL, -- JSON array
    format        TEXT    NOT NULL CHECK (format IN ('standard', 'slack')),
    sealed        BYTEA   NOT NULL, -- whole address and secrets, which a key of the operator seals
    state         TEXT    NOT NULL CHECK (state IN ('active', 'disabled')),
    reason        TEXT    NOT NULL, -- why it is disabled; '' when it isn't
    failing_since BIGINT,           -- first failure since the last success; NULL for none
    not_before    BIGINT  NOT NULL DEFAULT 0, -- nothing is sent earlier
    created_at    BIGINT  NOT NULL,
    created_by    TEXT    NOT NULL, -- the actor, such as key:key_01k9
    updated_at    BIGINT  NOT NULL
);

CREATE INDEX webhooks_created ON webhooks (organization, created_at, id);

-- Events for webhooks. A message that is written while its webhook is deleted is left to
-- retention.
CREATE TABLE webhook_messages (
    organization TEXT    COLLATE "C" NOT NULL,
    webhook_id   TEXT    COLLATE "C" NOT NULL,
    id           TEXT    COLLATE "C" NOT NULL, -- the same for all webhooks that get the event
    event        TEXT    NOT NULL,
    data         TEXT    NOT NULL, -- JSON
    state        TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    created_at   BIGINT  NOT NULL,
    not_before   BIGINT  NOT NULL,           -- not to be claimed earlier
    attempt      INTEGER NOT NULL,           -- rises with every claim: the fence
    tries        INTEGER NOT NULL,           -- attempts since it was queued
    lease_until  BIGINT  NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, webhook_id, id)
);

-- What waits, the next first; the list of a webhook; and what retention deletes.
CREATE INDEX webhook_messages_waiting ON webhook_messages (organization, webhook_id, not_before, created_at)
    WHERE state = 'waiting';
CREATE INDEX webhook_messages_listed ON webhook_messages (organization, webhook_id, created_at, id);
CREATE INDEX webhook_messages_created ON webhook_messages (created_at);

-- Attempts to deliver messages.
CREATE TABLE webhook_deliveries (
    organization TEXT    COLLATE "C" NOT NULL,
    webhook_id   TEXT    COLLATE "C" NOT NULL,
    message_id   TEXT    COLLATE "C" NOT NULL,
    attempt      INTEGER NOT NULL,
    at           BIGINT  NOT NULL,
    status       INTEGER NOT NULL, -- of HTTP; 0 without an answer
    duration_us  BIGINT  NOT NULL,
    answer       TEXT    NOT NULL, -- its first KiB
    error        TEXT    NOT NULL, -- why there is no answer; '' for none
    PRIMARY KEY (organization, webhook_id, message_id, attempt)
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
CREATE INDEX api_keys_valid ON api_keys (organization, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_parent ON api_keys (parent) WHERE parent <> '';

-- Who changed what. Only retention and the removal of an organization delete
-- from it, and nothing changes a row.
CREATE TABLE audit_events (
    organization TEXT   COLLATE "C" NOT NULL CHECK (organization <> ''), -- * for the whole installation
    at           BIGINT NOT NULL,
    id           TEXT   COLLATE "C" NOT NULL,
    actor        TEXT   COLLATE "C" NOT NULL, -- with its kind, such as key:key_01k9
    address      TEXT   NOT NULL, -- '' for none
    action       TEXT   COLLATE "C" NOT NULL,
    target       TEXT   NOT NULL,
    detail       TEXT   NOT NULL, -- JSON array of fields, before and after
    request_id   TEXT   NOT NULL, -- '' for none
    PRIMARY KEY (organization, at, id)
);

CREATE INDEX audit_events_actor ON audit_events (organization, actor, at, id);
CREATE INDEX audit_events_action ON audit_events (organization, action, at, id);

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
ALTER TABLE open_days        ENABLE ROW LEVEL SECURITY;
ALTER TABLE open_days        FORCE ROW LEVEL SECURITY;
ALTER TABLE finding_lives    ENABLE ROW LEVEL SECURITY;
ALTER TABLE finding_lives    FORCE ROW LEVEL SECURITY;
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
ALTER TABLE triage           ENABLE ROW LEVEL SECURITY;
ALTER TABLE triage           FORCE ROW LEVEL SECURITY;
ALTER TABLE commands         ENABLE ROW LEVEL SECURITY;
ALTER TABLE commands         FORCE ROW LEVEL SECURITY;
ALTER TABLE triage_changes   ENABLE ROW LEVEL SECURITY;
ALTER TABLE triage_changes   FORCE ROW LEVEL SECURITY;
ALTER TABLE pull_requests    ENABLE ROW LEVEL SECURITY;
ALTER TABLE pull_requests    FORCE ROW LEVEL SECURITY;
ALTER TABLE threads          ENABLE ROW LEVEL SECURITY;
ALTER TABLE threads          FORCE ROW LEVEL SECURITY;
ALTER TABLE published        ENABLE ROW LEVEL SECURITY;
ALTER TABLE published        FORCE ROW LEVEL SECURITY;
ALTER TABLE connection_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE connection_calls FORCE ROW LEVEL SECURITY;
ALTER TABLE connections      ENABLE ROW LEVEL SECURITY;
ALTER TABLE connections      FORCE ROW LEVEL SECURITY;
ALTER TABLE deliveries       ENABLE ROW LEVEL SECURITY;
ALTER TABLE deliveries       FORCE ROW LEVEL SECURITY;
ALTER TABLE sweeps           ENABLE ROW LEVEL SECURITY;
ALTER TABLE sweeps           FORCE ROW LEVEL SECURITY;
ALTER TABLE webhooks         ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhooks         FORCE ROW LEVEL SECURITY;
ALTER TABLE webhook_messages ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_messages FORCE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries FORCE ROW LEVEL SECURITY;
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
CREATE POLICY own ON open_days USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON finding_lives USING
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
CREATE POLICY own ON triage USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON commands USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON triage_changes USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON pull_requests USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON threads USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON published USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON connection_calls USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON connections USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON deliveries USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON sweeps USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON webhooks USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON webhook_messages USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON webhook_deliveries USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON api_keys USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON audit_events USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));

-- Connections whose GitHub App is being made. They end after some minutes or their use.
CREATE TABLE connection_setups (
    state_hash    TEXT    COLLATE "C" NOT NULL PRIMARY KEY, -- SHA-256 of the state, hexadecimal
    organization  TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    connection_id TEXT    COLLATE "C" NOT NULL, -- that the connection will have
    name          TEXT    COLLATE "C" NOT NULL,
    settings      TEXT    NOT NULL, -- JSON, as that of connections
    trusted       BOOLEAN NOT NULL, -- whether the operator chose its addresses
    personal      BOOLEAN NOT NULL, -- whether the account is a person's
    created_by    TEXT    NOT NULL, -- the actor, such as key:key_01k9
    expires_at    BIGINT  NOT NULL
);

CREATE INDEX connection_setups_organization ON connection_setups (organization, expires_at);

ALTER TABLE connection_setups ENABLE ROW LEVEL SECURITY;
ALTER TABLE connection_setups FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON connection_setups USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));

-- People, their sessions, and what they are in organizations. People and their
-- sessions belong to no organization: a transaction of one sees those of its members,
-- and what is found by the hash of a token is looked for in all of them.

-- People.
CREATE TABLE users (
    id           TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    email        TEXT    COLLATE "C" NOT NULL UNIQUE, -- in lower case
    name         TEXT    NOT NULL,
    password     TEXT    NOT NULL, -- argon2id as PHC string; '' for none
    created_at   BIGINT  NOT NULL,
    last_seen_at BIGINT,
    disabled_at  BIGINT,           -- NULL unless disabled
    theme        TEXT    NOT NULL DEFAULT 'system' CHECK (theme IN ('system', 'light', 'dark'))
);

-- What identity providers call a person.
CREATE TABLE identities (
    issuer    TEXT    COLLATE "C" NOT NULL,
    subject   TEXT    COLLATE "C" NOT NULL,
    user_id   TEXT    COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked_at BIGINT  NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE memberships (
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    user_id      TEXT    COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role         TEXT    NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    source       TEXT    NOT NULL CHECK (source IN ('local', 'oidc')), -- who decides about the role
    created_at   BIGINT  NOT NULL,
    PRIMARY KEY (organization, user_id)
);

CREATE INDEX memberships_user ON memberships (user_id);

-- What people are invited to. An open one is neither used, nor revoked, nor expired.
CREATE TABLE invitations (
    id           TEXT    COLLATE "C" NOT NULL PRIMARY KEY,
    organization TEXT    COLLATE "C" NOT NULL REFERENCES organizations (name),
    email        TEXT    COLLATE "C" NOT NULL, -- in lower case
    role         TEXT    NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    hash         TEXT    COLLATE "C" NOT NULL UNIQUE, -- SHA-256 of the token, in hexadecimal
    invited_by   TEXT    NOT NULL, -- the actor, such as user:usr_01k9
    created_at   BIGINT  NOT NULL,
    expires_at   BIGINT  NOT NULL,
    used_at      BIGINT,
    revoked_at   BIGINT
);

CREATE INDEX invitations_created ON invitations (organization, created_at, id);

-- Who has signed in. A session that ends is deleted.
CREATE TABLE sessions (
    hash        TEXT    COLLATE "C" NOT NULL PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
    id          TEXT    COLLATE "C" NOT NULL UNIQUE,
    user_id     TEXT    COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    method      TEXT    NOT NULL CHECK (method IN ('password', 'oidc')),
    address     TEXT    NOT NULL, -- '' for none
    agent       TEXT    NOT NULL, -- what the browser says of itself
    created_at  BIGINT  NOT NULL,
    seen_at     BIGINT  NOT NULL, -- last use
    fresh_until BIGINT  NOT NULL, -- until then the password was just given
    expires_at  BIGINT  NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX sessions_user ON sessions (user_id, seen_at);

-- Links that are used once. One that is used is deleted.
CREATE TABLE account_links (
    hash       TEXT    COLLATE "C" NOT NULL PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
    kind       TEXT    NOT NULL CHECK (kind IN ('setup', 'reset')),
    user_id    TEXT    COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    expires_at BIGINT  NOT NULL,
    CHECK ((kind = 'setup') = (user_id IS NULL))
);

CREATE INDEX account_links_user ON account_links (user_id);

ALTER TABLE users         ENABLE ROW LEVEL SECURITY;
ALTER TABLE users         FORCE ROW LEVEL SECURITY;
ALTER TABLE identities    ENABLE ROW LEVEL SECURITY;
ALTER TABLE identities    FORCE ROW LEVEL SECURITY;
ALTER TABLE memberships   ENABLE ROW LEVEL SECURITY;
ALTER TABLE memberships   FORCE ROW LEVEL SECURITY;
ALTER TABLE invitations   ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitations   FORCE ROW LEVEL SECURITY;
ALTER TABLE sessions      ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions      FORCE ROW LEVEL SECURITY;
ALTER TABLE account_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE account_links FORCE ROW LEVEL SECURITY;

CREATE POLICY own ON memberships USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));
CREATE POLICY own ON invitations USING
    ((SELECT current_setting('prwarden.organization')) IN (organization, '*'));

-- An organization sees its members, and what hangs on them.
CREATE POLICY own ON users USING
    ((SELECT current_setting('prwarden.organization')) = '*' OR EXISTS (SELECT 1 FROM memberships m
        WHERE m.user_id = users.id AND m.organization = (SELECT current_setting('prwarden.organization'))));
CREATE POLICY own ON identities USING
    ((SELECT current_setting('prwarden.organization')) = '*' OR EXISTS (SELECT 1 FROM memberships m
        WHERE m.user_id = identities.user_id AND m.organization = (SELECT current_setting('prwarden.organization'))));
CREATE POLICY own ON sessions USING
    ((SELECT current_setting('prwarden.organization')) = '*' OR EXISTS (SELECT 1 FROM memberships m
        WHERE m.user_id = sessions.user_id AND m.organization = (SELECT current_setting('prwarden.organization'))));
CREATE POLICY own ON account_links USING
    ((SELECT current_setting('prwarden.organization')) = '*' OR EXISTS (SELECT 1 FROM memberships m
        WHERE m.user_id = account_links.user_id AND m.organization = (SELECT current_setting('prwarden.organization'))));
