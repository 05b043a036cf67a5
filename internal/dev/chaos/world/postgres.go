package world

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	_ "github.com/lib/pq" // the driver "postgres"

	"github.com/prwarden/prwarden/internal/dev/pgtest"
)

// postgres is a cluster of its own, whose commits wait for the disk.
type postgres struct {
	cluster *pgtest.Cluster
}

func newPostgres(ctx context.Context) (_ *postgres, err error) {
	cluster, err := pgtest.NewCluster(ctx, pgtest.Options{Durable: true, TCP: true})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cluster.Close())
		}
	}()
	if err := cluster.Start(ctx); err != nil {
		return nil, err
	}
	if err := cluster.CreateDatabase(ctx, databaseName); err != nil {
		return nil, err
	}
	return &postgres{cluster}, nil
}

const databaseName = "prwarden"

func (p *postgres) DSN() string { return p.cluster.TCPDSN(databaseName) }

func (p *postgres) Addr() string {
	u, err := url.Parse(p.DSN())
	if err != nil {
		return "" // it is not an address then, and servers connect directly
	}
	return u.Host
}

func (p *postgres) Open(context.Context) (*sql.DB, error) {
	return sql.Open("postgres", p.cluster.SuperuserDSN(databaseName))
}

// auditSQL has the database write down every change of a review's state by
// itself, in the same transaction, whoever makes it. Times are microseconds
// since 1970, of the moment and not of the transaction's begin.
const auditSQL = `
CREATE SCHEMA chaos;
CREATE TABLE chaos.transitions (
	position   BIGSERIAL PRIMARY KEY,
	at         BIGINT  NOT NULL,
	review_id  TEXT    NOT NULL,
	was        TEXT    NOT NULL,
	is_now     TEXT    NOT NULL,
	attempt    INTEGER NOT NULL,
	failures   INTEGER NOT NULL,
	lost       INTEGER NOT NULL,
	worker     TEXT    NOT NULL
);
CREATE FUNCTION chaos.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	INSERT INTO chaos.transitions (at, review_id, was, is_now, attempt, failures, lost, worker)
	VALUES ((extract(epoch FROM clock_timestamp()) * 1000000)::BIGINT, NEW.id, CASE TG_OP WHEN 'INSERT' THEN '' ELSE OLD.status END,
		NEW.status, NEW.attempt, NEW.failures, NEW.lost, NEW.worker);
	RETURN NULL;
END $$;
CREATE TRIGGER chaos_created AFTER INSERT ON reviews FOR EACH ROW EXECUTE FUNCTION chaos.note();
CREATE TRIGGER chaos_changed AFTER UPDATE ON reviews FOR EACH ROW
	WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.attempt IS DISTINCT FROM NEW.attempt
		OR OLD.completed_at IS DISTINCT FROM NEW.completed_at) EXECUTE FUNCTION chaos.note();
`

func (p *postgres) Watch(ctx context.Context) error {
	return p.cluster.Exec(ctx, databaseName, auditSQL)
}

func (p *postgres) Crash(hard bool) error {
	if hard {
		return p.cluster.Kill()
	}
	return p.cluster.Stop(pgtest.Immediate)
}

func (p *postgres) Start(ctx context.Context) error { return p.cluster.Start(ctx) }
func (p *postgres) Close() error                    { return p.cluster.Close() }
