package config

// Pages is what people may do in a browser.
type Pages struct {
	Dashboard       bool // whether there are pages at all
	DashboardSource bool // whether they, and the API, show source code around findings
}

func defaultPages() Pages { return Pages{Dashboard: true, DashboardSource: true} }

func (p Pages) settings() []Setting {
	return []Setting{{
		Key: "dashboard", Field: func(c *Config) any { return &c.Dashboard },
		Commands: Serve, Default: "true",
		Usage: "Serve the dashboard's pages on the REST port.",
	}, {
		Key: "dashboard_source", Field: func(c *Config) any { return &c.DashboardSource },
		Commands: Serve, Default: "true",
		Usage: "Show source code around findings, with its secrets hidden, to people and\nkeys with the scope source:read.",
	}}
}
