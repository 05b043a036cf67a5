package web

import (
	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// hostKind is a way to connect a code host, with what to do there. Steps are texts for
// prose.
type hostKind struct {
	id    string // in the address of its page
	kind  prwardenv1.CodeHost_Kind
	name  string
	about string
	url   string // the usual address; "" when it has to be given

	before []string // what to do at the host first
	token  string   // what to know about the token; "" for an App
	app    bool     // with an App that exists
	newApp bool     // with an App that GitHub makes
	owner  string   // what the account is, where one is asked for

	webhookAt string   // where the host has its form for webhooks
	webhook   []choice // its fields; see webhookValue
	after     []string // what to do then
}

// Values of fields of a webhook that are the connection's own.
const (
	webhookURL    = "{url}"
	webhookSecret = "{secret}"
)

const (
	githubEvents = "Pull request, Merge group, Check run, Check suite, Issue comment, Pull request review comment, " +
		"Repository"
	scannerToken = "Make a second token that can only read git: a scanner gets it for one scan. Without it, scanners " +
		"get the first one."
	ownAccount = "Make a user of its own for prwarden, such as `prwarden`: only what this user writes counts as " +
		"prwarden's, so nobody can forge it."
)

// hostKinds are all ways, in the order in which they are offered.
var hostKinds = []hostKind{
	githubNewApp, githubApp, githubToken, gitlab, gitea("gitea", prwardenv1.CodeHost_gitea, "Gitea"),
	gitea("forgejo", prwardenv1.CodeHost_forgejo, "Forgejo"), bitbucketCloud, bitbucketServer,
}

var githubNewApp = hostKind{
	id: "github-app", kind: prwardenv1.CodeHost_github, name: "GitHub with a new App", newApp: true,
	url: "https://github.com",
	about: "GitHub makes an App for prwarden with everything that it needs: nothing to enter by hand. The best choice, " +
		"also for Enterprise Server.",
}

var githubApp = hostKind{
	id: "github-own-app", kind: prwardenv1.CodeHost_github, name: "GitHub with an App of yours", app: true,
	url: "https://github.com", owner: "The account that installed the App",
	about: "With the number and the private key of an App that you made by hand.",
	before: []string{
		"In `Settings → Developer settings → GitHub Apps` of your organization, make an App whose webhook is not active yet.",
		"Give it these repository permissions and no others: Metadata read, Contents read, Pull requests read and write, " +
			"Checks read and write, Commit statuses read and write, Issues read, Merge queues read.",
		"Subscribe to these events: " + githubEvents + ".",
		"Generate a private key, and install the App for the repositories that are to be scanned.",
	},
	webhookAt: "the settings of the App",
	webhook: []choice{
		{"Active", "yes"}, {"Webhook URL", webhookURL}, {"Webhook secret", webhookSecret},
	},
	after: githubAfter,
}

var githubAfter = []string{
	"In the branch protection or ruleset, require the status check `prwarden`, and as its source choose your App or user.",
}

var githubToken = hostKind{
	id: "github-token", kind: prwardenv1.CodeHost_github, name: "GitHub with a token", url: "https://github.com",
	about: "A user's token: a commit status and comments, but no check runs, which only Apps may write.",
	token: "Fine-grained or classic, of the user that you made.",
	before: []string{
		ownAccount,
		"Give it a fine-grained token for the repositories to be scanned: Metadata read, Contents read, Pull requests " +
			"write, Commit statuses write. Or a classic one with `repo`.",
		scannerToken + " On GitHub: fine-grained, with Contents read only.",
	},
	webhookAt: "`Settings → Webhooks → Add webhook` of the repository or the organization",
	webhook: []choice{
		{"Payload URL", webhookURL}, {"Content type", "application/json"}, {"Secret", webhookSecret},
		{"Which events", "Let me select: " + githubEvents},
	},
	after: githubAfter,
}

var gitlab = hostKind{
	id: "gitlab", kind: prwardenv1.CodeHost_gitlab, name: "GitLab", url: "https://gitlab.com",
	about: "gitlab.com, Dedicated, and self-managed from version 17 on, in all tiers.",
	token: "Of the role Developer, with the scope api.",
	before: []string{
		"Make a group access token or a project access token, which has an account of its own, or a user for prwarden. " +
			"Only what this account writes counts as prwarden's.",
		"To publish: the role Developer and the scope `api`. GitLab has no lesser one that writes a note or a status.",
		scannerToken + " On GitLab: the role Reporter and the scope `read_repository`.",
	},
	webhookAt: "`Settings → Webhooks → Add new webhook` of the project, or from Premium on of the group",
	webhook: []choice{
		{"URL", webhookURL},
		{"Signing token (GitLab 19.0 and later)", webhookSecret},
		{"Secret token (before 19.0, else leave it empty)", webhookSecret},
		{"Trigger", "Merge request events, Comments"},
		{"Enable SSL verification", "yes"},
		{"Custom webhook template", "none"},
	},
	after: []string{
		"Switch on `Settings → Merge requests → Merge checks → Pipelines must succeed`. The verdict is a job `prwarden` in " +
			"the pipeline.",
		"If prwarden has a private address, an administrator must allow it: `Admin → Settings → Network → " +
			"Outbound requests`.",
	},
}

// gitea is the way to Gitea, and to Forgejo, which differ little.
func gitea(id string, kind prwardenv1.CodeHost_Kind, name string) hostKind {
	about := "From version 1.26 on."
	if kind == prwardenv1.CodeHost_forgejo {
		about = "All versions that are maintained."
	}

	return hostKind{
		id: id, kind: kind, name: name, about: about,
		token: "With the scopes write:repository, write:issue and read:user.",
		before: []string{
			ownAccount + " A person's account doesn't do.",
			"Give the user write permission in each repository, directly or by a team. Commands in comments need " +
				"administrator.",
			"Sign in as that user and generate a token in `Settings → Applications → Manage Access Tokens`, for all " +
				"repositories, with `write:repository`, `write:issue` and `read:user`.",
			scannerToken + " Here: with `read:repository`.",
		},
		webhookAt: "`Webhooks → Add Webhook → " + name + "` in the repository, the organization or the administration",
		webhook: []choice{
			{"Target URL", webhookURL}, {"HTTP Method", "POST"}, {"POST Content Type", "application/json"},
			{"Secret", webhookSecret},
			{"Trigger On", "Custom Events: Pull Request, Pull Request Synchronized, Pull Request Labeled, Pull Request Comment"},
			{"Branch filter", "*"},
		},
		after: []string{
			"In the settings of the protected branch, enable the status check and add `prwarden`.",
			"If prwarden has a private address, " + name + " must allow it: `[webhook] ALLOWED_HOST_LIST` in its `app.ini`.",
		},
	}
}

var bitbucketCloud = hostKind{
	id: "bitbucket", kind: prwardenv1.CodeHost_bitbucket, name: "Bitbucket Cloud", url: "https://bitbucket.org",
	about: "bitbucket.org, with an API token of an account or an access token.",
	token: "An API token with its account's address first: bot@example.com:TOKEN. An access token alone.",
	owner: "UUID of the token's user, with an access token only",
	before: []string{
		"Make a user for prwarden with an API token, or an access token of a repository, project or workspace. Only what " +
			"this account writes counts as prwarden's.",
		"Scopes of an API token: `read:user:bitbucket`, `read:repository:bitbucket`, `read:pullrequest:bitbucket`, " +
			"`write:pullrequest:bitbucket`. Of an access token: Repositories read, Pull requests read, and write if " +
			"commenting is refused.",
		scannerToken + " Here: with `read:repository:bitbucket`, or Repositories read.",
	},
	webhookAt: "`Repository settings → Webhooks → Add webhook`, or in the settings of the workspace",
	webhook: []choice{
		{"URL", webhookURL}, {"Secret", webhookSecret},
		{"Triggers", "Pull request: Created, Updated, Merged, Declined, Comment created; Repository: Updated"},
	},
	after: []string{
		"In `Branch restrictions → Merge checks`, require at least one successful build and no failed builds for the last " +
			"commit.",
	},
}

var bitbucketServer = hostKind{
	id: "bitbucket-data-center", kind: prwardenv1.CodeHost_bitbucket_server, name: "Bitbucket Data Center",
	about: "Your own Bitbucket server, from version 8 on.",
	token: "An HTTP access token with Repositories: write.",
	before: []string{
		ownAccount + " Give it write in each repository, directly, by a group or by the project.",
		"Sign in as that user and create a token in `Manage account → HTTP access tokens`, with Repositories: write.",
		scannerToken + " Here: with Repositories: read.",
	},
	webhookAt: "`Repository settings → Webhooks → Create webhook`, or in the settings of the project",
	webhook: []choice{
		{"URL", webhookURL}, {"Secret", webhookSecret},
		{"Events", "Pull request: Opened, Source branch updated, Target branch updated, Modified, Merged, Declined, " +
			"Comment added; Repository: Modified"},
	},
	after: []string{"In `Repository settings → Code Insights`, require the report `prwarden` to pass."},
}

// hostKindNamed finds a way by its word in the address.
func hostKindNamed(id string) (hostKind, bool) {
	for _, k := range hostKinds {
		if k.id == id {
			return k, true
		}
	}

	return hostKind{}, false
}

// hostKindOf is the way that a connection was made by. What GitHub made of itself is an
// App as any other then.
func hostKindOf(c *prwardenv1.Connection) hostKind {
	for _, k := range hostKinds {
		if k.kind == c.GetKind() && !k.newApp && k.app == (c.AppId != nil) { //nolint:protogetter // whether there is one
			return k
		}
	}

	return hostKind{name: c.GetKind().String()}
}
