package main

import (
	"fmt"
	"net/http"
	"regexp"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// violation is a field and what was wrong with it, in the example of a 400.
type violation struct{ field, description string }

// call is what the document says of one RPC that its descriptor does not.
type call struct {
	invalid violation
	reasons []string // of failures that only some calls have
}

// calls returns the calls by the names of their RPCs.
func calls() map[protoreflect.Name]call {
	pageSize := func(most string) violation {
		return violation{"page_size", "must be at most " + most + "; it is 5000"}
	}
	takesNone := violation{"page_size", "unknown query parameter; this call takes none"}
	noBody := violation{"body", "this call takes no body"}
	return map[protoreflect.Name]call{
		"CreateReview": {
			violation{"pr_number", "must be at least 1; it is 0"},
			[]string{"REPOSITORY_NOT_ALLOWED", "IDEMPOTENCY_CONFLICT", "QUEUE_FULL"},
		},
		"GetReview":    {takesNone, []string{"REVIEW_NOT_FOUND"}},
		"ListReviews":  {pageSize("200"), nil},
		"ListFindings": {pageSize("1000"), []string{"REVIEW_NOT_FOUND"}},
		"GetSarif": {
			violation{"suppressed", "must be one of `include`, `omit`, not \"all\""},
			[]string{"REVIEW_NOT_FOUND", "REVIEW_NOT_COMPLETE"},
		},
		"CancelReview": {
			violation{"reason", "unknown field; the object takes no fields"},
			[]string{"REVIEW_NOT_FOUND", "REVIEW_FINISHED"},
		},
		"WatchReview":  {takesNone, []string{"REVIEW_NOT_FOUND", "WATCH_LIMIT"}},
		"ListRulesets": {takesNone, nil},
		"ListRules":    {takesNone, []string{"RULESET_NOT_FOUND"}},
		"GetRule":      {takesNone, []string{"RULE_NOT_FOUND"}},
		"CreateRule": {
			violation{"pattern", "at byte 12: missing closing ): `fmt\\.Print(`"},
			[]string{"REPOSITORY_NOT_ALLOWED", "RULE_EXISTS", "RULE_QUOTA"},
		},
		"TestRule":   {violation{"pattern", "matches the empty string"}, nil},
		"DeleteRule": {noBody, []string{"DEFAULT_RULE", "RULE_NOT_FOUND"}},
		"CreateKey":  {violation{"scopes", "must have at least 1 item"}, nil},
		"ListKeys":   {takesNone, nil},
		"DeleteKey":  {noBody, []string{"KEY_NOT_FOUND"}},
	}
}

// scopeWord finds the scope that the comment of a call names.
var scopeWord = regexp.MustCompile(`Scope: ([a-z]+:[a-z]+)`)

// otherScope is one that the key of an example has and does not help.
func otherScope(scope string) string {
	if scope == "rules:read" {
		return "reviews:read"
	}
	return "rules:read"
}

// failures returns every way in which a call can fail, by status. text is what
// its comment says.
func failures(op operation, text string) (map[int][]reason, error) {
	c, ok := calls()[op.method.Name()]
	if !ok {
		return nil, fmt.Errorf("calls.go does not say how it can fail")
	}
	scope := scopeWord.FindStringSubmatch(text)
	if scope == nil {
		return nil, fmt.Errorf("its comment does not say `Scope: …`")
	}
	words := map[string]bool{
		"INVALID_ARGUMENT": true, "KEY_MISSING": true, "KEY_INVALID": true, "KEY_EXPIRED": true, "KEY_REVOKED": true,
		"SCOPE_MISSING": true, "ORGANIZATION_REMOVED": true, "RATE_LIMITED": true, "INTERNAL": true, "UNAVAILABLE": true,
	}
	if op.body != "" {
		words["BODY_TOO_LARGE"], words["UNSUPPORTED_MEDIA_TYPE"] = true, true
	}
	for _, word := range c.reasons {
		words[word] = true
	}
	found := map[int][]reason{}
	for _, r := range reasons() {
		if !words[r.word] {
			continue
		}
		delete(words, r.word)
		switch r.word {
		case "INVALID_ARGUMENT":
			r.message = fmt.Sprintf("%s: %s", c.invalid.field, c.invalid.description)
			r.field = c.invalid
		case "SCOPE_MISSING":
			r.scope = scope[1]
			r.when = fmt.Sprintf(r.when, r.scope)
			r.message = fmt.Sprintf(r.message, r.scope, otherScope(r.scope))
		}
		found[r.status] = append(found[r.status], r)
	}
	for word := range words {
		return nil, fmt.Errorf("reasons.go does not know the reason %s", word)
	}
	return found, nil
}

// component returns the name of the answer that all calls share for a status,
// and "" for a status whose answers differ from call to call.
func component(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "Unauthenticated"
	case http.StatusRequestEntityTooLarge:
		return "BodyTooLarge"
	case http.StatusUnsupportedMediaType:
		return "UnsupportedMediaType"
	case http.StatusTooManyRequests:
		return "RateLimited"
	case http.StatusInternalServerError:
		return "Internal"
	}
	return ""
}
