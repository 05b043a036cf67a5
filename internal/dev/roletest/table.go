// Package roletest is the table of who may make which call, and a way to make each of
// them. Tests of the ports, and of people in this process, hold the server to it.
package roletest

import "google.golang.org/grpc/codes"

// Roles are those of members, the weakest first, with the scopes that keys need to do
// the same. The server has its own table.
var Roles = []struct{ Name, Scopes string }{
	{"viewer", viewer},
	{"member", viewer + "," + member},
	{"admin", viewer + "," + member + "," + admin},
	{"owner", viewer + "," + member + "," + admin + ",organization:admin"},
}

const (
	viewer = "reviews:read,rules:read,policy:read"
	member = "reviews:write,findings:triage,source:read,hosts:read"
	admin  = "rules:write,policy:write,keys:admin,members:admin,audit:read,hosts:write,webhooks:read,webhooks:write"
)

// Call is a call of a service.
type Call struct {
	Method string // such as ReviewService/GetReview
	Role   string // the weakest that may make it; "" for everybody
	Scope  string // that a key needs; "" where none is needed, or none helps
	People bool   // whether only people may make it

	// Request is JSON. Words with a dollar stand for what one organization owns: see
	// Filled.
	Request string
	// Elsewhere is what an owner of another organization gets: OK where the answer is
	// about the own one.
	Elsewhere codes.Code
}

const (
	own      = codes.OK
	notFound = codes.NotFound

	rule = `{"id": "made", "type": "regex", "pattern": "frob", "message": "m", "severity": "low"}`
	pull = `{"repo": "acme/api", "pr_number": 1}`
)

// Calls are all calls of the API. Those that delete come after those that need what
// they delete.
var Calls = []Call{
	{"AccountService/GetAccount", "", "", false, `{}`, own},
	{"AccountService/UpdateAccount", "", "", true, `{"name": "Another Name"}`, own},
	{"AccountService/ListSessions", "", "", true, `{}`, own},
	{"AccountService/ChangePassword", "", "", true,
		`{"current_password": "wrong", "new_password": "nine Green bottles fall"}`, codes.InvalidArgument},
	{"AccountService/EndSession", "", "", true, `{"session_id": "ses_unknown"}`, notFound},
	{"AccountService/EndSessions", "", "", true, `{}`, own},
	{"AuditService/ListEvents", "admin", "audit:read", false, `{}`, own},

	{"ConnectionService/CreateConnection", "admin", "hosts:write", false,
		`{"name": "made", "kind": "gitea", "url": "https://git.example.com", "repositories": ["a/*"], "token": "t"}`, own},
	{"ConnectionService/SetUpGitHubApp", "admin", "hosts:write", false,
		`{"name": "app", "account": "acme", "repositories": ["a/*"]}`, codes.FailedPrecondition},
	{"ConnectionService/ListConnections", "member", "hosts:read", false, `{}`, own},
	{"ConnectionService/GetConnection", "member", "hosts:read", false, `{"connection_id": "$connection"}`, notFound},
	{"ConnectionService/UpdateConnection", "admin", "hosts:write", false,
		`{"connection_id": "$connection", "name": "renamed"}`, notFound},
	{"ConnectionService/RotateConnectionSecret", "admin", "hosts:write", false,
		`{"connection_id": "$connection", "token": "t"}`, notFound},
	{"ConnectionService/TestConnection", "member", "hosts:read", false, `{"connection_id": "$connection"}`, notFound},
	{"ConnectionService/ListConnectionRepositories", "member", "hosts:read", false,
		`{"connection_id": "$connection"}`, notFound},
	{"ConnectionService/DeleteConnection", "admin", "hosts:write", false, `{"connection_id": "$connection"}`, notFound},

	{"KeyService/CreateKey", "admin", "keys:admin", false, `{"name": "made", "scopes": ["rules:read"]}`, own},
	{"KeyService/ListKeys", "admin", "keys:admin", false, `{}`, own},
	{"KeyService/DeleteKey", "admin", "keys:admin", false, `{"key_id": "$key"}`, notFound},

	{"MemberService/ListMembers", "admin", "members:admin", false, `{}`, own},
	{"MemberService/ListMemberNames", "viewer", "reviews:read", false, `{}`, own},
	{"MemberService/GetSingleSignOn", "owner", "organization:admin", false, `{}`, own},
	{"MemberService/UpdateMember", "admin", "members:admin", false, `{"user_id": "$user", "role": "member"}`, notFound},
	{"MemberService/CreatePasswordLink", "admin", "members:admin", false, `{"user_id": "$user"}`, notFound},
	{"MemberService/RemoveMember", "admin", "members:admin", false, `{"user_id": "$user"}`, notFound},
	{"MemberService/CreateInvitation", "admin", "members:admin", false,
		`{"email": "made@example.com", "role": "viewer"}`, own},
	{"MemberService/ListInvitations", "admin", "members:admin", false, `{}`, own},
	{"MemberService/DeleteInvitation", "admin", "members:admin", false, `{"invitation_id": "$invitation"}`, notFound},

	{"PolicyService/GetPolicy", "viewer", "policy:read", false, `{}`, own},
	{"PolicyService/SetPolicy", "admin", "policy:write", false, `{"policy": {}}`, own},

	{"PullRequestService/ListPullRequests", "member", "hosts:read", false, `{}`, own},
	{"PullRequestService/GetPullRequest", "member", "hosts:read", false, pull, notFound},
	{"PullRequestService/RepublishPullRequest", "admin", "hosts:write", false, pull, notFound},
	{"PullRequestService/ListThreads", "member", "hosts:read", false, pull, notFound},

	{"ReviewService/CreateReview", "member", "reviews:write", false, pull, codes.PermissionDenied},
	{"ReviewService/GetReview", "viewer", "reviews:read", false, `{"review_id": "$review"}`, notFound},
	{"ReviewService/ListReviews", "viewer", "reviews:read", false, `{}`, own},
	{"ReviewService/CountReviews", "viewer", "reviews:read", false, `{}`, own},
	{"ReviewService/ListFindings", "viewer", "reviews:read", false, `{"review_id": "$review"}`, notFound},
	{"ReviewService/SearchFindings", "viewer", "reviews:read", false, `{}`, own},
	{"ReviewService/ListRepositories", "viewer", "reviews:read", false, `{}`, own},
	{"ReviewService/GetSarif", "viewer", "reviews:read", false, `{"review_id": "$review"}`, notFound},
	{"ReviewService/GetDiff", "member", "source:read", false, `{"review_id": "$review"}`, notFound},
	{"ReviewService/WatchReview", "viewer", "reviews:read", false, `{"review_id": "$review"}`, notFound},
	{"ReviewService/CancelReview", "member", "reviews:write", false, `{"review_id": "$review"}`, notFound},

	{"RuleService/ListRulesets", "viewer", "rules:read", false, `{}`, own},
	{"RuleService/ListRules", "viewer", "rules:read", false, `{"name": "custom"}`, own},
	{"RuleService/GetRule", "viewer", "rules:read", false, `{"id": "custom/$rule"}`, notFound},
	{"RuleService/CreateRule", "admin", "rules:write", false, `{"rule": ` + rule + `}`, own},
	{"RuleService/UpdateRule", "admin", "rules:write", false,
		`{"id": "custom/$rule", "rule": {"message": "n"}, "update_mask": "message"}`, notFound},
	{"RuleService/BatchRules", "admin", "rules:write", false, `{"version": 1, "rules": [], "dry_run": true}`, own},
	{"RuleService/ExportRules", "viewer", "rules:read", false, `{}`, own},
	{"RuleService/ListRuleHistory", "viewer", "rules:read", false, `{"id": "custom/$rule"}`, notFound},
	{"RuleService/TestRule", "viewer", "rules:read", false, `{"pattern": "frob", "text": "frob"}`, own},
	{"RuleService/TryRules", "admin", "rules:write", false, `{"rules": [` + rule + `]}`, own},
	{"RuleService/DeleteRule", "admin", "rules:write", false, `{"id": "custom/$rule"}`, notFound},

	{"StatsService/ListRuleStats", "viewer", "reviews:read", false, `{}`, own},
	{"StatsService/GetTrends", "viewer", "reviews:read", false, `{}`, own},

	{"TriageService/SetTriage", "member", "findings:triage", false,
		`{"repo": "acme/api", "fingerprints": ["$fingerprint"], "decision": "false_positive", "reason": "r"}`, notFound},
	{"TriageService/ListTriage", "viewer", "reviews:read", false, `{}`, own},
	{"TriageService/UndoTriage", "member", "findings:triage", false, `{"change_id": "$change"}`, notFound},

	{"WebhookService/CreateWebhook", "admin", "webhooks:write", false,
		`{"name": "made", "url": "https://hooks.example.com/", "events": ["review.failed"]}`, own},
	{"WebhookService/ListWebhooks", "admin", "webhooks:read", false, `{}`, own},
	{"WebhookService/GetWebhook", "admin", "webhooks:read", false, `{"webhook_id": "$webhook"}`, notFound},
	{"WebhookService/UpdateWebhook", "admin", "webhooks:write", false,
		`{"webhook_id": "$webhook", "name": "renamed"}`, notFound},
	{"WebhookService/RotateWebhookSecret", "admin", "webhooks:write", false, `{"webhook_id": "$webhook"}`, notFound},
	{"WebhookService/SendTestWebhook", "admin", "webhooks:write", false, `{"webhook_id": "$webhook"}`, notFound},
	{"WebhookService/ListWebhookMessages", "admin", "webhooks:read", false, `{"webhook_id": "$webhook"}`, notFound},
	{"WebhookService/RedeliverWebhookMessage", "admin", "webhooks:write", false,
		`{"webhook_id": "$webhook", "message_id": "$message"}`, notFound},
	{"WebhookService/DeleteWebhook", "admin", "webhooks:write", false, `{"webhook_id": "$webhook"}`, notFound},
}
