package app

import (
	"time"

	"github.com/prwarden/prwarden/internal/admission"
	"github.com/prwarden/prwarden/internal/config"
)

// admit makes what admits requests: servers on one Postgres count together,
// one on SQLite for itself. observe hears what becomes of each request.
func (s *Server) admit(c config.Listen, observe func(admission.Outcome)) *admission.Admitter {
	var limiter admission.Limiter = admission.NewMemoryLimiter(time.Now)
	if windows, ok := s.store.Windows(); ok {
		s.limiter = admission.NewSharedLimiter(windows, time.Now, s.log)
		limiter = s.limiter
	}
	return admission.NewAdmitter(s.keys, limiter, c.TrustedProxies, admission.DefaultLimit, observe)
}
