package sarif

// The objects of the format that prwarden writes, named as the standard's
// without the words that the file has anyway.

type run struct {
	Tool                     tool              `json:"tool"`
	Invocations              []invocation      `json:"invocations"`
	AutomationDetails        automation        `json:"automationDetails"`
	BaselineGUID             string            `json:"baselineGuid,omitempty"`
	VersionControlProvenance []versionControl  `json:"versionControlProvenance,omitempty"`
	OriginalURIBaseIDs       map[string]baseID `json:"originalUriBaseIds"`
	ColumnKind               string            `json:"columnKind"`
}

type tool struct {
	Driver driver `json:"driver"`
}

type driver struct {
	Name            string       `json:"name"`
	Version         string       `json:"version,omitempty"`
	SemanticVersion string       `json:"semanticVersion,omitempty"`
	InformationURI  string       `json:"informationUri"`
	Rules           []descriptor `json:"rules"`
}

type descriptor struct {
	ID                   string        `json:"id"`
	Name                 string        `json:"name"`
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
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type invocation struct {
	ExecutionSuccessful        bool           `json:"executionSuccessful"`
	StartTimeUTC               string         `json:"startTimeUtc,omitempty"`
	EndTimeUTC                 string         `json:"endTimeUtc,omitempty"`
	ToolExecutionNotifications []notification `json:"toolExecutionNotifications,omitempty"`
}

type notification struct {
	Descriptor reference  `json:"descriptor"`
	Level      string     `json:"level"`
	Message    message    `json:"message"`
	Locations  []location `json:"locations,omitempty"`
	// AssociatedRule names the rule that was stopped.
	AssociatedRule *reference `json:"associatedRule,omitempty"`
}

type reference struct {
	ID string `json:"id"`
}

type automation struct {
	ID   string `json:"id"`
	GUID string `json:"guid,omitempty"`
}

type versionControl struct {
	RepositoryURI string   `json:"repositoryUri"`
	RevisionID    string   `json:"revisionId,omitempty"`
	MappedTo      artifact `json:"mappedTo"`
}

type baseID struct {
	Description message `json:"description"`
}

type result struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             message           `json:"message"`
	Locations           []location        `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
	BaselineState       string            `json:"baselineState,omitempty"`
	Suppressions        []suppression     `json:"suppressions,omitempty"`
	Properties          resultProperties  `json:"properties"`
}

type resultProperties struct {
	Severity string `json:"prwardenSeverity"` // of six, where level is one of three
}

type suppression struct {
	Kind          string                `json:"kind"`
	Status        string                `json:"status"`
	Justification string                `json:"justification,omitempty"`
	Location      location              `json:"location"`
	Properties    *suppressedProperties `json:"properties,omitempty"`
}

type suppressedProperties struct {
	Until string `json:"until"` // last day on which it holds
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
	URI       string `json:"uri,omitempty"`
	URIBaseID string `json:"uriBaseId"`
}

type region struct {
	StartLine   int      `json:"startLine"`
	StartColumn int      `json:"startColumn,omitempty"`
	EndLine     int      `json:"endLine,omitempty"`
	EndColumn   int      `json:"endColumn,omitempty"`
	Snippet     *message `json:"snippet,omitempty"`
}
