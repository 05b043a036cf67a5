-- What several servers on one database need. SQLite has one server, but the
-- queries are the same.

-- +goose Up

-- The oldest schema version whose program still works on this database; see
-- docs/operations.md, "Schema changes". A migration that takes something away
-- raises it.
CREATE TABLE schema_compatibility (
    one    INTEGER NOT NULL PRIMARY KEY DEFAULT 1 CHECK (one = 1), -- one row
    oldest INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO schema_compatibility (oldest) VALUES (2);

-- W3C trace context of the request that created the review; '' for none.
ALTER TABLE reviews ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';

-- Most scans of the organization at once; 0 for no cap.
ALTER TABLE organizations ADD COLUMN max_running INTEGER NOT NULL DEFAULT 0 CHECK (max_running >= 0);

-- When a server last said that its configuration names the organization; 0 for
-- never.
ALTER TABLE organizations ADD COLUMN configured_at INTEGER NOT NULL DEFAULT 0;

-- What retention deletes, oldest first.
CREATE INDEX reviews_ended ON reviews (completed_at) WHERE completed_at IS NOT NULL;

-- +goose Down
DROP INDEX reviews_ended;
ALTER TABLE organizations DROP COLUMN configured_at;
ALTER TABLE organizations DROP COLUMN max_running;
ALTER TABLE reviews DROP COLUMN traceparent;
DROP TABLE schema_compatibility;
