package store

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Collectors tell Prometheus of the connections to the database, as
// go_sql_* with the label db_name: `reader` and `writer` where they are apart,
// as in SQLite, and else `writer`.
func (s *Store) Collectors() []prometheus.Collector {
	all := []prometheus.Collector{collectors.NewDBStatsCollector(s.pools.writer.DB, "writer")}
	if s.pools.reader != s.pools.writer {
		all = append(all, collectors.NewDBStatsCollector(s.pools.reader.DB, "reader"))
	}
	return all
}
