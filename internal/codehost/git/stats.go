package git

import "sync/atomic"

// Stats are counts of a Store since it was made.
type Stats struct {
	Fetches       uint64 // commands that fetch, those that failed too
	FailedFetches uint64 // those that failed
	FetchedBytes  uint64 // of the packs that they brought
	Hits          uint64 // openings of a repository that was in the cache
	Misses        uint64 // openings that began with nothing: the first, and after a damage
	Evictions     uint64 // repositories removed to make room
}

// counts is Stats while they grow.
type counts struct {
	fetches, failedFetches, fetchedBytes, hits, misses, evictions atomic.Uint64
}

// Stats returns the counts.
func (s *Store) Stats() Stats {
	c := &s.counts
	return Stats{
		Fetches: c.fetches.Load(), FailedFetches: c.failedFetches.Load(), FetchedBytes: c.fetchedBytes.Load(),
		Hits: c.hits.Load(), Misses: c.misses.Load(), Evictions: c.evictions.Load(),
	}
}
