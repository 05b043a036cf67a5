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
    publish         TEXT    NOT NULL DEFAULT '{}', -- what the base's rules file wants less of in the pull request, as JSON
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
    generated_files INTEGER NOT NULL DEFAULT 0,  -- in which some rules did not look for that
    minified_files  INTEGER NOT NULL DEFAULT 0,
    vendored_files  INTEGER NOT NULL DEFAULT 0,
    excluded_files  INTEGER NOT NULL DEFAULT 0,  -- changed ones, by the rules file
    switched_off    TEXT    NOT NULL DEFAULT 'null', -- JSON array: rules, by whom and how
    priority        INTEGER NOT NULL DEFAULT 0 CHECK (priority IN (0, 1)), -- normal, low
    due_at          INTEGER NOT NULL DEFAULT 0,  -- until then others go first
    -- Title and author of the pull request where the code host told them, else subject
    -- and author of the head commit; '' until known.
    head_title      TEXT    NOT NULL DEFAULT '',
    head_author     TEXT    NOT NULL DEFAULT '',
    search          TEXT    NOT NULL DEFAULT '', -- repo#pr_number, title and author, in lower case
    new_total        INTEGER NOT NULL DEFAULT 0, -- reported findings that are new
    fixed_total      INTEGER NOT NULL DEFAULT 0,
    suppressed_total INTEGER NOT NULL DEFAULT 0,
    latest          INTEGER NOT NULL DEFAULT 0 CHECK (latest IN (0, 1)), -- of the complete ones of its pull request
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
) STRICT;

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

-- Leases that may have run out.
CREATE INDEX reviews_lease ON reviews (lease_expires) WHERE status = 'in_progress';

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
    open_low, open_info, latest) WHERE latest;

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
    confidence      TEXT    NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    steps           TEXT    NOT NULL DEFAULT 'null', -- JSON: the way of a value to the finding
    fix             TEXT    NOT NULL DEFAULT 'null', -- JSON: lines that the rule has in place of what it found
    decision        TEXT    NOT NULL DEFAULT 'open' -- that the verdict counts
                    CHECK (decision IN ('open', 'accepted', 'false_positive', 'wont_fix')),
    triage          TEXT    NOT NULL DEFAULT 'null', -- JSON: the decision, by whom and why
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
    accepted       INTEGER NOT NULL DEFAULT 0 CHECK (accepted >= 0), -- decisions that were made that day and stand
    false_positive INTEGER NOT NULL DEFAULT 0 CHECK (false_positive >= 0),
    wont_fix       INTEGER NOT NULL DEFAULT 0 CHECK (wont_fix >= 0),
    fix_seconds    INTEGER NOT NULL DEFAULT 0 CHECK (fix_seconds >= 0), -- from the first sight of those fixed
    PRIMARY KEY (organization, day, repo, rule_id, severity)
) STRICT, WITHOUT ROWID;

-- By how much a day changed what is open: in the latest reviews of pull requests, which
-- say what is open now. It outlives the reviews.
CREATE TABLE open_days (
    organization TEXT    NOT NULL REFERENCES organizations (name),
    day          TEXT    NOT NULL, -- YYYY-MM-DD in UTC
    repo         TEXT    NOT NULL,
    severity     TEXT    NOT NULL
                 CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    change       INTEGER NOT NULL,
    PRIMARY KEY (organization, day, repo, severity)
) STRICT, WITHOUT ROWID;

-- Since when a pull request has a finding, and when it was fixed. It goes with the last
-- review of the pull request.
CREATE TABLE finding_lives (
    organization  TEXT    NOT NULL REFERENCES organizations (name),
    repo          TEXT    NOT NULL,
    pr_number     INTEGER NOT NULL,
    fingerprint   TEXT    NOT NULL,
    rule_id       TEXT    NOT NULL, -- with its category
    severity      TEXT    NOT NULL
                  CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    first_seen_at INTEGER NOT NULL,
    last_seen_at  INTEGER NOT NULL,
    fixed_at      INTEGER, -- NULL unless it is fixed
    PRIMARY KEY (organization, repo, pr_number, fingerprint)
) STRICT, WITHOUT ROWID;

-- What was fixed in a time.
CREATE INDEX finding_lives_fixed ON finding_lives (organization, fixed_at) WHERE fixed_at IS NOT NULL;

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
    places        TEXT    NOT NULL, -- where matches count
    multiline     INTEGER NOT NULL CHECK (multiline IN (0, 1)),
    redact        INTEGER NOT NULL CHECK (redact IN (0, 1)),
    cases_match   TEXT    NOT NULL,
    cases_no_match TEXT   NOT NULL,
    refs          TEXT    NOT NULL, -- where to read more
    languages     TEXT    NOT NULL,
    skip          TEXT    NOT NULL, -- kinds of files that it does not look at
    conditions    TEXT    NOT NULL, -- what decides about matches, rules that it supersedes, its fix
    confidence    TEXT    NOT NULL CHECK (confidence IN ('high', 'medium', 'low')),
    enabled       INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    mode          TEXT    NOT NULL CHECK (mode IN ('enforce', 'observe')),
    etag          TEXT    NOT NULL, -- of the content
    size          INTEGER NOT NULL, -- of the document in bytes, as JSON
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

-- How organizations reach their code hosts.
CREATE TABLE connections (
    id           TEXT    NOT NULL PRIMARY KEY,
    organization TEXT    NOT NULL REFERENCES organizations (name),
    name         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    settings     TEXT    NOT NULL, -- JSON: addresses, repositories, account
    sealed       BLOB    NOT NULL, -- secrets, which a key of the operator seals
    state        TEXT    NOT NULL CHECK (state IN ('active', 'suspended', 'broken')),
    reason       TEXT    NOT NULL, -- why it is broken; '' when it isn't
    missing      TEXT    NOT NULL, -- JSON array: permissions, at the last test
    declared     INTEGER NOT NULL CHECK (declared IN (0, 1)), -- whether a configuration file has it
    trusted      INTEGER NOT NULL CHECK (trusted IN (0, 1)),  -- whether the operator chose its addresses
    created_at   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL, -- the actor, such as key:key_01k9
    updated_at   INTEGER NOT NULL,
    tested_at    INTEGER,          -- NULL for never
    UNIQUE (organization, name)
) STRICT;

CREATE INDEX connections_created ON connections (organization, created_at, id);

-- Policies of organizations that have set one.
CREATE TABLE policies (
    organization TEXT    NOT NULL PRIMARY KEY REFERENCES organizations (name),
    document     TEXT    NOT NULL, -- JSON
    updated_at   INTEGER NOT NULL,
    updated_by   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

-- What is decided about findings. pr_number is 0 for all of the repository.
CREATE TABLE triage (
    organization TEXT    NOT NULL REFERENCES organizations (name),
    repo         TEXT    NOT NULL,
    fingerprint  TEXT    NOT NULL,
    pr_number    INTEGER NOT NULL CHECK (pr_number >= 0),
    rule_id      TEXT    NOT NULL,
    severity     TEXT    NOT NULL,
    decision     TEXT    NOT NULL CHECK (decision IN ('accepted', 'false_positive', 'wont_fix')),
    reason       TEXT    NOT NULL,
    until        TEXT    NOT NULL, -- YYYY-MM-DD; '' for no end
    actor        TEXT    NOT NULL,
    change_id    TEXT    NOT NULL,
    decided_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, repo, fingerprint, pr_number)
) STRICT, WITHOUT ROWID;

-- The list, newest first.
CREATE INDEX triage_decided ON triage (organization, decided_at);

-- What decisions replaced, as long as they can be undone.
CREATE TABLE triage_changes (
    organization TEXT    NOT NULL REFERENCES organizations (name),
    change_id    TEXT    NOT NULL,
    fingerprint  TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    pr_number    INTEGER NOT NULL,
    decision     TEXT    NOT NULL, -- that was made; open took one back
    before       TEXT    NOT NULL, -- JSON; null for none
    changed_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, change_id, fingerprint)
) STRICT, WITHOUT ROWID;

-- What retention deletes.
CREATE INDEX triage_changes_at ON triage_changes (changed_at);

-- Comments of code hosts whose commands were done, so that none is done twice.
CREATE TABLE commands (
    organization  TEXT    NOT NULL REFERENCES organizations (name),
    connection_id TEXT    NOT NULL,
    name          TEXT    NOT NULL, -- unique in the connection
    handled_at    INTEGER NOT NULL,
    PRIMARY KEY (organization, connection_id, name)
) STRICT, WITHOUT ROWID;

-- What retention deletes.
CREATE INDEX commands_at ON commands (handled_at);

-- Pull requests of connections, as their hosts had them when they were last read,
-- and how far publishing them is. Whatever there is to publish raises want; a
-- publisher that has published it sets done.
CREATE TABLE pull_requests (
    organization    TEXT    NOT NULL REFERENCES organizations (name),
    repo            TEXT    NOT NULL, -- as reviews have it
    number          INTEGER NOT NULL CHECK (number >= 1),
    connection_id   TEXT    NOT NULL,
    repo_id         TEXT    NOT NULL, -- the host's; '' while it isn't known
    private         INTEGER NOT NULL CHECK (private IN (0, 1)),
    state           TEXT    NOT NULL CHECK (state IN ('open', 'closed', 'merged')),
    title           BLOB    NOT NULL,
    author          BLOB    NOT NULL, -- login
    author_id       TEXT    NOT NULL,
    head_sha        TEXT    NOT NULL,
    base_sha        TEXT    NOT NULL,
    base_ref        BLOB    NOT NULL, -- branch
    merge_base      TEXT    NOT NULL,
    draft           INTEGER NOT NULL CHECK (draft IN (0, 1)),
    fork            INTEGER NOT NULL CHECK (fork IN (0, 1)),
    labels          BLOB    NOT NULL, -- JSON array
    url             TEXT    NOT NULL,
    host_updated_at INTEGER NOT NULL, -- by the host's clock; 0 when it doesn't say
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL, -- of the row, leases aside
    want            INTEGER NOT NULL DEFAULT 0,
    done            INTEGER NOT NULL DEFAULT 0,
    wanted_at       INTEGER NOT NULL DEFAULT 0,
    owner           TEXT    NOT NULL DEFAULT '', -- the claim; '' for none
    lease_until     INTEGER NOT NULL DEFAULT 0,
    not_before      INTEGER NOT NULL DEFAULT 0,
    failures        INTEGER NOT NULL DEFAULT 0,  -- in a row
    failing_from    INTEGER,                     -- the first of these
    published_at    INTEGER,
    problem         TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (organization, repo, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX pull_requests_created ON pull_requests (organization, created_at, repo, number);
CREATE INDEX pull_requests_wanted ON pull_requests (wanted_at) WHERE want > done;

-- What retention deletes, oldest first.
CREATE INDEX pull_requests_updated ON pull_requests (updated_at);

-- Comments on lines that were posted once.
CREATE TABLE threads (
    organization TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    fingerprint  TEXT    NOT NULL,
    ref          TEXT    NOT NULL, -- '' while it isn't known
    thread       TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('open', 'fixed', 'dismissed', 'deleted_by_user', 'refused')),
    rule_id      TEXT    NOT NULL,
    path         BLOB    NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, repo, number, fingerprint),
    FOREIGN KEY (organization, repo, number) REFERENCES pull_requests (organization, repo, number)
        ON DELETE CASCADE ON UPDATE CASCADE
) STRICT, WITHOUT ROWID;

-- What the check and the summary of a pull request were last given, and the check of
-- an earlier head while that is pending.
CREATE TABLE published (
    organization TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    number       INTEGER NOT NULL,
    sink         TEXT    NOT NULL CHECK (sink IN ('check', 'outdated', 'summary')),
    ref          TEXT    NOT NULL, -- '' while it isn't known
    head_sha     TEXT    NOT NULL,
    review_id    TEXT    NOT NULL,
    verdict      TEXT    NOT NULL, -- '' of the summary
    deleted      INTEGER NOT NULL CHECK (deleted IN (0, 1)), -- by a person
    PRIMARY KEY (organization, repo, number, sink),
    FOREIGN KEY (organization, repo, number) REFERENCES pull_requests (organization, repo, number)
        ON DELETE CASCADE ON UPDATE CASCADE
) STRICT, WITHOUT ROWID;

-- The calls that publishers make with a connection, so that all servers together keep
-- to its host's limits.
CREATE TABLE connection_calls (
    organization  TEXT    NOT NULL REFERENCES organizations (name),
    connection_id TEXT    NOT NULL,
    served_at     INTEGER NOT NULL DEFAULT 0, -- last claim of one of its pull requests
    not_before    INTEGER NOT NULL DEFAULT 0, -- none is claimed earlier
    next_at       INTEGER NOT NULL DEFAULT 0, -- of the next call that writes
    hour_end      INTEGER NOT NULL DEFAULT 0, -- of the hour in which calls are counted
    hour_calls    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, connection_id)
) STRICT, WITHOUT ROWID;

-- What code hosts told, or a sweep found, without bodies. hints is emptied when a
-- delivery is worked off.
CREATE TABLE deliveries (
    organization  TEXT    NOT NULL,
    connection_id TEXT    NOT NULL,
    id            TEXT    NOT NULL, -- of the host, or of a sweep
    event         TEXT    NOT NULL, -- kinds of its hints
    subject       TEXT    NOT NULL, -- the pull request that all of it is about; '' for none
    hints         TEXT    NOT NULL, -- JSON array
    received_at   INTEGER NOT NULL,
    outcome       TEXT    NOT NULL CHECK (outcome IN ('waiting', 'done', 'ignored', 'failed')),
    reason        TEXT    NOT NULL, -- why it waits again, is ignored or failed; '' for none
    attempt       INTEGER NOT NULL DEFAULT 0, -- rises with every claim: the fence
    lease_until   INTEGER NOT NULL DEFAULT 0,
    not_before    INTEGER NOT NULL,           -- not to be claimed earlier
    PRIMARY KEY (organization, connection_id, id)
) STRICT, WITHOUT ROWID;

-- What waits, the next first; what is worked off of a pull request; and what retention
-- deletes, oldest first.
CREATE INDEX deliveries_waiting ON deliveries (not_before, received_at) WHERE outcome = 'waiting';
CREATE INDEX deliveries_subject ON deliveries (connection_id, subject, received_at) WHERE outcome = 'waiting';
CREATE INDEX deliveries_received ON deliveries (received_at);

-- How far the sweeps of a connection are, which find what was not delivered.
CREATE TABLE sweeps (
    organization  TEXT    NOT NULL,
    connection_id TEXT    NOT NULL PRIMARY KEY REFERENCES connections (id) ON DELETE CASCADE,
    due_at        INTEGER NOT NULL, -- the next; during one the end of its lease
    looked_at     INTEGER NOT NULL, -- last, for deliveries that did not arrive
    swept_at      INTEGER NOT NULL, -- last
    since         INTEGER NOT NULL, -- pull requests that changed since then are looked for
    round_at      INTEGER NOT NULL, -- begin of the round through all repositories
    place         TEXT    NOT NULL  -- the last repository of the round; '' for none
) STRICT, WITHOUT ROWID;

-- Receivers of an organization's events.
CREATE TABLE webhooks (
    id            TEXT    NOT NULL PRIMARY KEY,
    organization  TEXT    NOT NULL REFERENCES organizations (name),
    name          TEXT    NOT NULL,
    url           TEXT    NOT NULL, -- without what may be secret in it
    events        TEXT    NOT NULL, -- JSON array
    format        TEXT    NOT NULL CHECK (format IN ('standard', 'slack')),
    sealed        BLOB    NOT NULL, -- whole address and secrets, which a key of the operator seals
    state         TEXT    NOT NULL CHECK (state IN ('active', 'disabled')),
    reason        TEXT    NOT NULL, -- why it is disabled; '' when it isn't
    failing_since INTEGER,          -- first failure since the last success; NULL for none
    not_before    INTEGER NOT NULL DEFAULT 0, -- nothing is sent earlier
    created_at    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL, -- the actor, such as key:key_01k9
    updated_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX webhooks_created ON webhooks (organization, created_at, id);

-- Events for webhooks. A message that is written while its webhook is deleted is left to
-- retention.
CREATE TABLE webhook_messages (
    organization TEXT    NOT NULL,
    webhook_id   TEXT    NOT NULL,
    id           TEXT    NOT NULL, -- the same for all webhooks that get the event
    event        TEXT    NOT NULL,
    data         TEXT    NOT NULL, -- JSON
    state        TEXT    NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
    created_at   INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,           -- not to be claimed earlier
    attempt      INTEGER NOT NULL,           -- rises with every claim: the fence
    tries        INTEGER NOT NULL,           -- attempts since it was queued
    lease_until  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (organization, webhook_id, id)
) STRICT, WITHOUT ROWID;

-- What waits, the next first; the list of a webhook; and what retention deletes.
CREATE INDEX webhook_messages_waiting ON webhook_messages (organization, webhook_id, not_before, created_at)
    WHERE state = 'waiting';
CREATE INDEX webhook_messages_listed ON webhook_messages (organization, webhook_id, created_at, id);
CREATE INDEX webhook_messages_created ON webhook_messages (created_at);

-- Attempts to deliver messages.
CREATE TABLE webhook_deliveries (
    organization TEXT    NOT NULL,
    webhook_id   TEXT    NOT NULL,
    message_id   TEXT    NOT NULL,
    attempt      INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    status       INTEGER NOT NULL, -- of HTTP; 0 without an answer
    duration_us  INTEGER NOT NULL,
    answer       TEXT    NOT NULL, -- its first KiB
    error        TEXT    NOT NULL, -- why there is no answer; '' for none
    PRIMARY KEY (organization, webhook_id, message_id, attempt)
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
CREATE INDEX api_keys_valid ON api_keys (organization, expires_at) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_parent ON api_keys (parent) WHERE parent <> '';

-- Who changed what. Only retention and the removal of an organization delete
-- from it, and nothing changes a row.
CREATE TABLE audit_events (
    organization TEXT    NOT NULL CHECK (organization <> ''), -- * for the whole installation
    at           INTEGER NOT NULL,
    id           TEXT    NOT NULL,
    actor        TEXT    NOT NULL, -- with its kind, such as key:key_01k9
    address      TEXT    NOT NULL, -- '' for none
    action       TEXT    NOT NULL,
    target       TEXT    NOT NULL,
    detail       TEXT    NOT NULL, -- JSON array of fields, before and after
    request_id   TEXT    NOT NULL, -- '' for none
    PRIMARY KEY (organization, at, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_events_actor ON audit_events (organization, actor, at, id);
CREATE INDEX audit_events_action ON audit_events (organization, action, at, id);

-- What retention deletes, oldest first, and the list of all organizations.
CREATE INDEX audit_events_at ON audit_events (at, id);

-- One row that readiness changes, to see whether the database can be written.
CREATE TABLE write_check (
    checks INTEGER NOT NULL
) STRICT;
INSERT INTO write_check (checks) VALUES (0);

-- Connections whose GitHub App is being made. They end after some minutes or their use.
CREATE TABLE connection_setups (
    state_hash    TEXT    NOT NULL PRIMARY KEY, -- SHA-256 of the state, hexadecimal
    organization  TEXT    NOT NULL REFERENCES organizations (name),
    connection_id TEXT    NOT NULL, -- that the connection will have
    name          TEXT    NOT NULL,
    settings      TEXT    NOT NULL, -- JSON, as that of connections
    trusted       INTEGER NOT NULL CHECK (trusted IN (0, 1)),  -- whether the operator chose its addresses
    personal      INTEGER NOT NULL CHECK (personal IN (0, 1)), -- whether the account is a person's
    created_by    TEXT    NOT NULL, -- the actor, such as key:key_01k9
    expires_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX connection_setups_organization ON connection_setups (organization, expires_at);

-- People, their sessions, and what they are in organizations. People and their
-- sessions belong to no organization.

-- People.
CREATE TABLE users (
    id           TEXT    NOT NULL PRIMARY KEY,
    email        TEXT    NOT NULL UNIQUE, -- in lower case
    name         TEXT    NOT NULL,
    password     TEXT    NOT NULL, -- argon2id as PHC string; '' for none
    created_at   INTEGER NOT NULL,
    last_seen_at INTEGER,
    disabled_at  INTEGER,          -- NULL unless disabled
    theme        TEXT    NOT NULL DEFAULT 'system' CHECK (theme IN ('system', 'light', 'dark'))
) STRICT;

-- What identity providers call a person.
CREATE TABLE identities (
    issuer    TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    user_id   TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE memberships (
    organization TEXT    NOT NULL REFERENCES organizations (name),
    user_id      TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role         TEXT    NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    source       TEXT    NOT NULL CHECK (source IN ('local', 'oidc')), -- who decides about the role
    created_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX memberships_user ON memberships (user_id);

-- What people are invited to. An open one is neither used, nor revoked, nor expired.
CREATE TABLE invitations (
    id           TEXT    NOT NULL PRIMARY KEY,
    organization TEXT    NOT NULL REFERENCES organizations (name),
    email        TEXT    NOT NULL, -- in lower case
    role         TEXT    NOT NULL CHECK (role IN ('viewer', 'member', 'admin', 'owner')),
    hash         TEXT    NOT NULL UNIQUE, -- SHA-256 of the token, in hexadecimal
    invited_by   TEXT    NOT NULL, -- the actor, such as user:usr_01k9
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    used_at      INTEGER,
    revoked_at   INTEGER
) STRICT;

CREATE INDEX invitations_created ON invitations (organization, created_at, id);

-- Who has signed in. A session that ends is deleted.
CREATE TABLE sessions (
    hash        TEXT    NOT NULL PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
    id          TEXT    NOT NULL UNIQUE,
    user_id     TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    method      TEXT    NOT NULL CHECK (method IN ('password', 'oidc')),
    address     TEXT    NOT NULL, -- '' for none
    agent       TEXT    NOT NULL, -- what the browser says of itself
    created_at  INTEGER NOT NULL,
    seen_at     INTEGER NOT NULL, -- last use
    fresh_until INTEGER NOT NULL, -- until then the password was just given
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_user ON sessions (user_id, seen_at);

-- Links that are used once. One that is used is deleted.
CREATE TABLE account_links (
    hash       TEXT    NOT NULL PRIMARY KEY, -- SHA-256 of the token, in hexadecimal
    kind       TEXT    NOT NULL CHECK (kind IN ('setup', 'reset')),
    user_id    TEXT    REFERENCES users (id) ON DELETE CASCADE,
    expires_at INTEGER NOT NULL,
    CHECK ((kind = 'setup') = (user_id IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX account_links_user ON account_links (user_id);
