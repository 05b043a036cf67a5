package sarif

// The objects of the format that prwarden writes, named as the standard's
// without the words that the file has anyway.

type run struct {
	Tool              tool         `json:"tool"`
	Invocations       []invocation `json:"invocations"`
	AutomationDetails automation   `json:"automationDetails"`
	ColumnKind        string       `json:"columnKind"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name           string       `json:"name"`
	Version        string       `json:"version,omitempty"`
	InformationURI string       `json:"informationUri"`
	Rules          []descriptor `json:"rules"`
}

type descriptor struct {
	ID                   string        `json:"id"`
	ShortDescription     message       `json:"shortDescription"`
	FullDescription      message       `json:"fullDescription"`
	HelpURI              string        `json:"helpUri,omitempty"`
	Help                 message       `json:"help"`
	DefaultConfiguration configuration `json:"defaultConfiguration"`
	Properties           properties    `json:"properties"`
}

type configuration struct {
	Level string `json:"level"`
}

type properties struct {
	Tags             []string `json:"tags"`
	Precision        string   `json:"precision,omitempty"`
	ProblemSeverity  string   `json:"problem.severity"`
	SecuritySeverity string   `json:"security-severity,omitempty"`
}

type message struct {
	Text string `json:"text"`
}

type invocation struct {
	ExecutionSuccessful bool           `json:"executionSuccessful"`
	Notifications       []notification `json:"toolExecutionNotifications,omitempty"`
}

type notification struct {
	Level   string  `json:"level"`
	Message message `json:"message"`
}

type automation struct {
	ID string `json:"id"`
}

type result struct {
	RuleID              string        `json:"ruleId"`
	RuleIndex           int           `json:"ruleIndex"`
	Level               string        `json:"level"`
	Message             message       `json:"message"`
	Locations           []location    `json:"locations"`
	PartialFingerprints fingerprints  `json:"partialFingerprints"`
	BaselineState       string        `json:"baselineState,omitempty"`
	Suppressions        []suppression `json:"suppressions,omitempty"`
}

type fingerprints struct {
	LineHash string `json:"primaryLocationLineHash,omitempty"` // GitHub knows alerts again by it
	Own      string `json:"prwardenFingerprint/v1,omitempty"`
}

type suppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification,omitempty"`
}

type location struct {
	PhysicalLocation physical `json:"physicalLocation"`
}

type physical struct {
	ArtifactLocation artifact `json:"artifactLocation"`
	Region           *region  `json:"region,omitempty"`
	ContextRegion    *region  `json:"contextRegion,omitempty"`
}

type artifact struct {
	URI string `json:"uri"`
}

type region struct {
	StartLine   int      `json:"startLine"`
	StartColumn int      `json:"startColumn,omitempty"`
	EndLine     int      `json:"endLine,omitempty"`
	EndColumn   int      `json:"endColumn,omitempty"`
	Snippet     *message `json:"snippet,omitempty"`
}
