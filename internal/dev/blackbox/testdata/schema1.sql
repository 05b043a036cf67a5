-- A database as the program for schema version 1 made it, and as it was when that
-- program was killed. The rows are real.
PRAGMA foreign_keys = 0;
BEGIN;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE organizations (
    name      TEXT    NOT NULL PRIMARY KEY,
    queued    INTEGER NOT NULL DEFAULT 0 CHECK (queued >= 0),  -- reviews that wait
    running   INTEGER NOT NULL DEFAULT 0 CHECK (running >= 0), -- reviews in progress
    rules     INTEGER NOT NULL DEFAULT 0 CHECK (rules >= 0),   -- rows of rules
    served_at INTEGER NOT NULL DEFAULT 0                       -- last claim; 0 before the first
) STRICT, WITHOUT ROWID;
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
    CHECK ((status = 'in_progress') = (lease_expires IS NOT NULL)),
    CHECK ((status IN ('complete', 'failed', 'canceled')) = (completed_at IS NOT NULL)),
    CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
    CHECK ((failure_code IS NULL) = (failure_message IS NULL))
) STRICT;
CREATE TABLE findings (
    review_id   TEXT    NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL, -- from 0
    rule_id     TEXT    NOT NULL,
    severity    TEXT    NOT NULL
                CHECK (severity IN ('critical', 'high', 'medium', 'warning', 'low', 'info')),
    file        BLOB    NOT NULL,
    line        INTEGER NOT NULL,
    end_line    INTEGER NOT NULL,
    col         INTEGER NOT NULL, -- in bytes, from 1
    message     BLOB    NOT NULL,
    snippet     BLOB    NOT NULL,
    fingerprint TEXT    NOT NULL,
    PRIMARY KEY (review_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE skips (
    review_id TEXT    NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    position  INTEGER NOT NULL, -- from 0
    file      BLOB    NOT NULL,
    line      INTEGER NOT NULL, -- 0 when not only a line
    rule_id   TEXT    NOT NULL, -- '' when not only a rule
    reason    TEXT    NOT NULL,
    PRIMARY KEY (review_id, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE scan_durations (
    organization TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    average_us   INTEGER NOT NULL CHECK (average_us >= 0),
    samples      INTEGER NOT NULL CHECK (samples >= 1),
    PRIMARY KEY (organization, repo)
) STRICT, WITHOUT ROWID;
CREATE TABLE idempotency_keys (
    organization TEXT    NOT NULL,
    idem_key     TEXT    NOT NULL,
    request_hash TEXT    NOT NULL,
    review_id    TEXT    NOT NULL,
    estimated_ms INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    PRIMARY KEY (organization, idem_key)
) STRICT, WITHOUT ROWID;
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
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (organization, full_id),
    CHECK ((scope = 'repo') = (repo <> ''))
) STRICT, WITHOUT ROWID;
CREATE TABLE rules_files (
    organization TEXT    NOT NULL,
    repo         TEXT    NOT NULL,
    rule_count   INTEGER NOT NULL CHECK (rule_count >= 1),
    rules        TEXT    NOT NULL, -- JSON array
    PRIMARY KEY (organization, repo)
) STRICT, WITHOUT ROWID;
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
    revoked_at   INTEGER
) STRICT;
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (1, 0, 1, '2026-11-20 16:27:57 +0000 UTC');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (2, 1, 1, '2026-11-20 16:27:57 +0000 UTC');
INSERT INTO organizations (name, queued, running, rules, served_at) VALUES ('acme', 0, 0, 2, 1795192079291961);
INSERT INTO organizations (name, queued, running, rules, served_at) VALUES ('other', 0, 0, 0, 1795192079225416);
INSERT INTO organizations (name, queued, running, rules, served_at) VALUES ('slow', 1, 2, 0, 1795192082455502);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_wc5d2wp3pgwi7vgpvwzsvumohg', 'acme', 'acme/api', 1, 'acme/api', 'complete', 1795192077786149, 1795192077807937, 1795192079222180, '9b294fd29cb2ac02fa342333d1879385b282866a', '919449568115b785de25108b06393ea6d5dae357', 'c9d33c88963e43aded7f8d00b65c286fbe966d46b4b6fdd6254942c3c8d24fdb', '{"critical":0,"high":1,"info":0,"low":0,"medium":2,"warning":0}', 0, NULL, NULL, 1, 0, 0, 3, 3, 0, 'server-1/1', NULL);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 'acme', 'acme/site', 1, 'acme/site', 'complete', 1795192077848528, 1795192077882800, 1795192079269100, '8ae2aa274f55bd17fd757c13117119ab4b21d77e', '84cbc447cfbcdfe3bdd32c43d908264d26b684c2', '6320afe1ee54a0e248c008d3e4ee87b2d643817f23a42c53905ce0667a6aa7aa', '{"critical":0,"high":1,"info":0,"low":1,"medium":2,"warning":1}', 0, NULL, NULL, 1, 0, 0, 3, 3, 0, 'server-1/0', NULL);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_qhbgf4qw2r5onirlvitbtqev2b', 'acme', 'acme/api', 99, 'acme/api', 'failed', 1795192077932171, 1795192079291961, 1795192079340475, '', '', '', '{}', 0, 'pull_request_not_found', x'61636d652f61706920686173206e6f2070756c6c20726571756573742039392e', 1, 0, 0, 0, 0, 0, 'server-1/0', NULL);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_y6vmju2yuuympuda5unsqvypdt', 'other', 'acme/api', 1, 'default', 'complete', 1795192078185046, 1795192079225416, 1795192079560764, '9b294fd29cb2ac02fa342333d1879385b282866a', '919449568115b785de25108b06393ea6d5dae357', 'ff004d10d96ce8b8a4e6089cb253ce5d3f2125007b2437787741fab83fd6c58e', '{"critical":0,"high":1,"info":0,"low":0,"medium":0,"warning":0}', 0, NULL, NULL, 1, 0, 0, 3, 3, 0, 'server-1/1', NULL);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_xelwm7ex7cgdzoeagf2xexdohm', 'slow', 'acme/api', 1, 'acme/api', 'canceled', 1795192082365126, 1795192082367799, 1795192082378479, '', '', '', '{}', 0, NULL, NULL, 1, 0, 0, 0, 0, 0, 'server-1/1', NULL);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_ajsd3oaa22oglq7skhxpuqqquk', 'slow', 'acme/site', 1, 'acme/site', 'in_progress', 1795192082399314, 1795192082400069, NULL, '', '', '', '{}', 0, NULL, NULL, 1, 0, 0, 0, 0, 0, 'server-1/0', 1795192102400069);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_l7emof4q5dam6e2qa3ai77sy6p', 'slow', 'acme/site', 2, 'acme/site', 'in_progress', 1795192082449560, 1795192082455502, NULL, '', '', '', '{}', 0, NULL, NULL, 1, 0, 0, 0, 0, 0, 'server-1/1', 1795192102455502);
INSERT INTO reviews (id, organization, repo, pr_number, ruleset, status, created_at, started_at, completed_at, head_sha, base_sha, rules_digest, summary, truncated, failure_code, failure_message, attempt, failures, lost, files_done, files_total, not_before, worker, lease_expires) VALUES ('rev_3ofammfwg6ha33vhifpofukxgj', 'slow', 'acme/site', 3, 'acme/site', 'queued', 1795192082501098, NULL, NULL, '', '', '', '{}', 0, NULL, NULL, 0, 0, 0, 0, 0, 0, '', NULL);
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 0, 'custom/no-frobnicate', 'medium', x'636166e92e676f', 1, 1, 1, x'446f6e27742e', x'66726f626e6963617465283229', '9e59722be05b2643432084e5f6f26705');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 1, 'security/no-eval', 'high', x'7372632f612e6a73', 1, 1, 1, x'5061727365207468652076616c756520696e7374656164206f662072756e6e696e672069742c2077697468204a534f4e2e706172736520666f722064617461206f722061206d6170206f662066756e6374696f6e7320666f722063686f696365732e', x'6576616c287829', '255a6214a181228ffe499360774c7108');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 2, 'custom/no-frobnicate', 'medium', x'7372632f612e6a73', 2, 2, 14, x'446f6e27742e', x'666d742e5072696e746c6e282266726f626e69636174652831292229', 'c73edf58e8790ee76305230d29069c91');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 3, 'custom/no-print', 'warning', x'7372632f612e6a73', 2, 2, 1, x'55736520746865206c6f676765722e', x'666d742e5072696e746c6e282266726f626e69636174652831292229', '381e1aebcbe013567a110f1043a8038a');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 4, 'style/no-todo', 'low', x'7372632f612e6a73', 3, 3, 1, x'446f20697420e28093206e6f772e', x'544f444f', 'a994ea1e117c9a0b59a4c202c9869445');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_wc5d2wp3pgwi7vgpvwzsvumohg', 0, 'custom/no-frobnicate', 'medium', x'636166e92e676f', 1, 1, 1, x'446f6e27742e', x'66726f626e6963617465283229', '9e59722be05b2643432084e5f6f26705');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_wc5d2wp3pgwi7vgpvwzsvumohg', 1, 'security/no-eval', 'high', x'7372632f612e6a73', 1, 1, 1, x'5061727365207468652076616c756520696e7374656164206f662072756e6e696e672069742c2077697468204a534f4e2e706172736520666f722064617461206f722061206d6170206f662066756e6374696f6e7320666f722063686f696365732e', x'6576616c287829', '255a6214a181228ffe499360774c7108');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_wc5d2wp3pgwi7vgpvwzsvumohg', 2, 'custom/no-frobnicate', 'medium', x'7372632f612e6a73', 2, 2, 14, x'446f6e27742e', x'666d742e5072696e746c6e282266726f626e69636174652831292229', 'c73edf58e8790ee76305230d29069c91');
INSERT INTO findings (review_id, position, rule_id, severity, file, line, end_line, col, message, snippet, fingerprint) VALUES ('rev_y6vmju2yuuympuda5unsqvypdt', 0, 'security/no-eval', 'high', x'7372632f612e6a73', 1, 1, 1, x'5061727365207468652076616c756520696e7374656164206f662072756e6e696e672069742c2077697468204a534f4e2e706172736520666f722064617461206f722061206d6170206f662066756e6374696f6e7320666f722063686f696365732e', x'6576616c287829', '255a6214a181228ffe499360774c7108');
INSERT INTO skips (review_id, position, file, line, rule_id, reason) VALUES ('rev_jfv3mkeehajyfusvdromxgmsnm', 0, x'6c6f676f2e706e67', 0, '', 'binary');
INSERT INTO skips (review_id, position, file, line, rule_id, reason) VALUES ('rev_wc5d2wp3pgwi7vgpvwzsvumohg', 0, x'6c6f676f2e706e67', 0, '', 'binary');
INSERT INTO skips (review_id, position, file, line, rule_id, reason) VALUES ('rev_y6vmju2yuuympuda5unsqvypdt', 0, x'6c6f676f2e706e67', 0, '', 'binary');
INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES ('', '', 1045298, 3);
INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES ('acme', '', 1400272, 2);
INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES ('acme', 'acme/api', 1414243, 1);
INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES ('acme', 'acme/site', 1386300, 1);
INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES ('other', '', 335348, 1);
INSERT INTO scan_durations (organization, repo, average_us, samples) VALUES ('other', 'acme/api', 335348, 1);
INSERT INTO idempotency_keys (organization, idem_key, request_hash, review_id, estimated_ms, expires_at) VALUES ('acme', 'k1', '821341aad1c7c6056d14998ff3e9c8b3741ef9a716a28f79cc2bcbedb53b6fc5', 'rev_wc5d2wp3pgwi7vgpvwzsvumohg', 5000, 1795278477786149);
INSERT INTO rules (organization, full_id, id, type, pattern, message, severity, scope, repo, paths_include, paths_exclude, multiline, redact, cases_match, cases_no_match, refs, created_at) VALUES ('acme', 'custom/no-frobnicate', 'no-frobnicate', 'regex', 'frobnicate', 'Don''t.', 'medium', 'org', '', '[]', '[]', 0, 0, '[]', '[]', '[]', 1795192077679746);
INSERT INTO rules (organization, full_id, id, type, pattern, message, severity, scope, repo, paths_include, paths_exclude, multiline, redact, cases_match, cases_no_match, refs, created_at) VALUES ('acme', 'style/no-todo', 'style/no-todo', 'regex', 'TODO', 'Do it – now.', 'low', 'repo', 'acme/site', '["src/**"]', '[]', 0, 0, '["TODO"]', '["DONE"]', '[]', 1795192077754842);
INSERT INTO rules_files (organization, repo, rule_count, rules) VALUES ('acme', 'acme/site', 1, '[{"id":"no-print","type":"regex","pattern":"fmt\\.Print","message":"Use the logger.","severity":"warning"}]');
INSERT INTO api_keys (id, organization, name, hash, scopes, rate_limit, created_at, expires_at, last_used_at, revoked_at) VALUES ('key_sftcbso6ka6tkbdkvf4tbkznxs', 'acme', 'ci', '1289f66cba611b74207c7f7fea1fd8a8913edc9b5572e9099fab985963ecb36b', '["reviews:read","reviews:write","rules:read","rules:write"]', 1000, 1795192077393743, NULL, NULL, NULL);
INSERT INTO api_keys (id, organization, name, hash, scopes, rate_limit, created_at, expires_at, last_used_at, revoked_at) VALUES ('key_6opjh4b7gowqceprgxpq75wtbx', 'other', 'other''s – ключ', 'f40dd9aa5c380db2f4f3cb912805d726f818f0666816436d10ddf08c7a51e7c5', '["reviews:read","reviews:write"]', 0, 1795192077421485, 4948792077419066, NULL, NULL);
INSERT INTO api_keys (id, organization, name, hash, scopes, rate_limit, created_at, expires_at, last_used_at, revoked_at) VALUES ('key_t7vogw5cmsw4pcigykuaopkhzr', 'slow', 'slow', 'b75f0c4eec9be13714ab4801d76fb792a62d6ec615b63865d2eb3663724f99fa', '["reviews:read","reviews:write","rules:read","rules:write"]', 0, 1795192077437495, NULL, NULL, NULL);
INSERT INTO api_keys (id, organization, name, hash, scopes, rate_limit, created_at, expires_at, last_used_at, revoked_at) VALUES ('key_jgf7vybekxgblxqg7i7usyanwb', 'acme', 'revoked', '14e0f3730e64abd3a50ec2793b88a2018039960907382156aa423578040482cc', '["reviews:read","reviews:write","rules:read","rules:write"]', 0, 1795192077520359, NULL, NULL, 1795192077579257);
CREATE INDEX organizations_turn ON organizations (running, served_at) WHERE queued > 0;
CREATE INDEX reviews_created ON reviews (organization, created_at, id);
CREATE INDEX reviews_status ON reviews (organization, status, created_at, id, not_before);
CREATE INDEX reviews_repo ON reviews (organization, repo, created_at, id, pr_number);
CREATE INDEX reviews_pr_number ON reviews (organization, pr_number, created_at, id);
CREATE INDEX reviews_lease ON reviews (lease_expires) WHERE status = 'in_progress';
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (organization, expires_at);
CREATE INDEX rules_repo ON rules (organization, repo, full_id);
CREATE INDEX api_keys_created ON api_keys (organization, created_at, id);
COMMIT;
