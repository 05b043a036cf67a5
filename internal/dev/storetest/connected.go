package storetest

import "testing"

// connectedTests are those of connections, and of what is known by them.
func connectedTests() map[string]func(*testing.T, Harness) {
	return map[string]func(*testing.T, Harness){
		"PullRequests/what the host says is kept":            keptPullRequest,
		"PullRequests/what is older changes nothing":         olderPullRequest,
		"PullRequests/they are listed":                       listedPullRequests,
		"PullRequests/reviews have them published":           wantedPublications,
		"PullRequests/the review to publish":                 reviewToPublish,
		"PullRequests/one publisher at a time":               onePublisher,
		"PullRequests/connections take turns":                connectionsTakeTurns,
		"PullRequests/a lost lease writes nothing":           lostLease,
		"PullRequests/calls of a connection have their pace": callPace,
		"PullRequests/what was published is known":           knownPublished,
		"PullRequests/others with the same head":             sameHead,
		"PullRequests/others are published, too":             wantedByOthers,
		"PullRequests/one is published again":                republished,
		"PullRequests/failures are counted":                  publicationFailures,
		"PullRequests/a lease that is kept delays the next":  keptLease,
		"Races/a pull request has one publisher":             publisherRace,
		"Races/calls of a connection keep their pace":        paceRace,
		"PullRequests/scans of forks are counted":            countedForks,
		"PullRequests/a repository is renamed":               renamedRepository,
		"Retention/old pull requests go":                     purgedPullRequests,
		"Connections/one is stored as it was made":           storedConnection,
		"Connections/a set-up is taken once, and ends":       takenSetup,
		"Connections/one is changed":                         changedConnection,
		"Connections/they are listed":                        listedConnections,
		"Connections/one is deleted":                         deletedConnection,
		"Connections/organizations are apart":                connectionsApart,
		"Connections/what a host says is kept":               reportedConnection,
		"Connections/one that works again publishes":         repairedConnection,
		"Races/the quota and names of connections hold":      connectionsRace,
		"Deliveries/one is kept once and claimed":            keptDelivery,
		"Deliveries/one of a pull request at a time":         oneOfSubject,
		"Deliveries/a lost claim changes nothing":            lostDelivery,
		"Deliveries/what waits is tried again":               retriedDelivery,
		"Deliveries/others look at something else":           exceptDeliveries,
		"Deliveries/those of the inactive wait":              deliveriesOfInactive,
		"Deliveries/old ones go":                             purgedDeliveries,
		"Sweeps/each connection is swept":                    sweptConnections,
		"Sweeps/how far they are is kept":                    keptSweep,
		"Sweeps/what was not heard of is known":              unheardPullRequests,
		"Races/a delivery is kept once and claimed once":     deliveryRace,
	}
}
