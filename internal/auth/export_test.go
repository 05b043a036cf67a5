package auth

import "time"

// TimeMemoryBy has what is remembered of keys timed by another clock than
// time.Now. It must be called first.
func (k *Keys) TimeMemoryBy(now func() time.Time) { k.lookup.now = now }
