package web

import (
	"google.golang.org/grpc"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// clients call the services.
type clients struct {
	reviews  prwardenv1.ReviewServiceClient
	rules    prwardenv1.RuleServiceClient
	keys     prwardenv1.KeyServiceClient
	policies prwardenv1.PolicyServiceClient
	stats    prwardenv1.StatsServiceClient
	audit    prwardenv1.AuditServiceClient
	triage   prwardenv1.TriageServiceClient
	hosts    prwardenv1.ConnectionServiceClient
	webhooks prwardenv1.WebhookServiceClient
	pulls    prwardenv1.PullRequestServiceClient
	members  prwardenv1.MemberServiceClient
	accounts prwardenv1.AccountServiceClient
}

func newClients(c grpc.ClientConnInterface) clients {
	return clients{
		reviews:  prwardenv1.NewReviewServiceClient(c),
		rules:    prwardenv1.NewRuleServiceClient(c),
		keys:     prwardenv1.NewKeyServiceClient(c),
		policies: prwardenv1.NewPolicyServiceClient(c),
		stats:    prwardenv1.NewStatsServiceClient(c),
		audit:    prwardenv1.NewAuditServiceClient(c),
		triage:   prwardenv1.NewTriageServiceClient(c),
		hosts:    prwardenv1.NewConnectionServiceClient(c),
		webhooks: prwardenv1.NewWebhookServiceClient(c),
		pulls:    prwardenv1.NewPullRequestServiceClient(c),
		members:  prwardenv1.NewMemberServiceClient(c),
		accounts: prwardenv1.NewAccountServiceClient(c),
	}
}
