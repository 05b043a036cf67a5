package organization

import (
	"context"
	"fmt"
	"log/slog"
)

// Apply stores what a configuration file declares. Without a declaration it
// makes sure that there is an organization at all. Where several servers' files
// differ, the one that is applied last holds, and log says so.
func Apply(ctx context.Context, store Store, declared []Organization, log *slog.Logger) error {
	if declared == nil {
		return store.CreateDefaultOrganization(ctx, NewDefault())
	}

	changed, err := store.DeclareOrganizations(ctx, declared)
	if err != nil {
		return fmt.Errorf("the organizations of the configuration file can't be stored: %w", err)
	}

	for _, name := range changed {
		log.Warn("this configuration file declares an organization in another way than the one before; this one holds",
			"organization", name)
	}

	return nil
}
