// Package api answers the calls of all services: each handler decodes, calls
// the domain, and encodes. Who calls and whether they may is decided before
// (internal/server/rpc), and what an error looks like after.
package api

import (
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// Services are the handlers of all services.
type Services struct {
	Reviews  *Reviews
	Rules    *Rules
	Keys     *Keys
	Accounts *Accounts
	Members  *Members
	Policies *Policies
	Stats    *Stats
	Audit    *Audit
	Triage   *Triage
	Hosts    *Connections
	Webhooks *Webhooks
	Pulls    *PullRequests
	Health   healthpb.HealthServer
}

// Register registers them, and reflection where there can be any.
func (s Services) Register(r grpc.ServiceRegistrar) {
	prwardenv1.RegisterReviewServiceServer(r, s.Reviews)
	prwardenv1.RegisterRuleServiceServer(r, s.Rules)
	prwardenv1.RegisterKeyServiceServer(r, s.Keys)
	prwardenv1.RegisterAccountServiceServer(r, s.Accounts)
	prwardenv1.RegisterMemberServiceServer(r, s.Members)
	prwardenv1.RegisterPolicyServiceServer(r, s.Policies)
	prwardenv1.RegisterStatsServiceServer(r, s.Stats)
	prwardenv1.RegisterAuditServiceServer(r, s.Audit)
	prwardenv1.RegisterTriageServiceServer(r, s.Triage)
	prwardenv1.RegisterConnectionServiceServer(r, s.Hosts)
	prwardenv1.RegisterWebhookServiceServer(r, s.Webhooks)
	prwardenv1.RegisterPullRequestServiceServer(r, s.Pulls)
	healthpb.RegisterHealthServer(r, s.Health)
	if with, ok := r.(reflection.GRPCServer); ok {
		reflection.Register(with)
	}
}
