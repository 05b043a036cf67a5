package strictjson_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/server/rest/strictjson"
)

func schema(t testing.TB, m proto.Message, bound ...string) *strictjson.Schema {
	t.Helper()
	s, err := strictjson.New(m.ProtoReflect().Descriptor(), bound...)
	require.NoError(t, err)
	return s
}

const rule = `"id":"a","type":"regex","pattern":"x","message":"m","severity":"high"`

func TestCheck(t *testing.T) {
	t.Parallel()
	review := schema(t, &prwardenv1.CreateReviewRequest{})
	rules := schema(t, &prwardenv1.Rule{})
	keys := schema(t, &prwardenv1.CreateKeyRequest{})
	cancel := schema(t, &prwardenv1.CancelReviewRequest{}, "review_id")
	tests := map[string]struct {
		schema *strictjson.Schema
		body   string
		want   []string // `field: part of the text`, none when the body is right
	}{
		"right":                    {review, `{"repo":"a/b","pr_number":1}`, nil},
		"white space everywhere":   {review, " \t\r\n{ \"repo\" : \"a/b\" ,\n\"pr_number\" : 1 } \n", nil},
		"escapes":                  {review, `{"repo":"\u0061\/b\n\ud83d\ude00","pr_number":1}`, nil},
		"escaped name":             {review, `{"\u0072epo":"a/b","pr_number":1}`, nil},
		"smallest number":          {review, `{"repo":"a/b","pr_number":-2147483648}`, nil},
		"unknown field":            {review, `{"repo":"a/b","pr_number":1,"branch":"x"}`, []string{"branch: unknown field; allowed are `repo`, `pr_number`, `ruleset`"}},
		"camelCase":                {review, `{"repo":"a/b","prNumber":1}`, []string{"prNumber: this one is `pr_number`", "pr_number: is required"}},
		"string for a number":      {review, `{"repo":"a/b","pr_number":"1"}`, []string{"pr_number: must be an integer from -2147483648 to 2147483647, written as a number, not a string"}},
		"exponent":                 {review, `{"repo":"a/b","pr_number":1e1}`, []string{`pr_number: written as a number, not "1e1"`}},
		"fraction":                 {review, `{"repo":"a/b","pr_number":1.0}`, []string{`pr_number: not "1.0"`}},
		"too large":                {review, `{"repo":"a/b","pr_number":2147483648}`, []string{`pr_number: not "2147483648"`}},
		"very large":               {review, `{"repo":"a/b","pr_number":` + strings.Repeat("9", 500) + `}`, []string{`pr_number: 9"…`}},
		"null":                     {review, `{"repo":null,"pr_number":1}`, []string{"repo: must be a string, not null; leave the field out"}},
		"null for an optional":     {review, `{"repo":"a/b","pr_number":1,"ruleset":null}`, []string{"ruleset: must be a string, not null"}},
		"boolean for a string":     {review, `{"repo":true,"pr_number":1}`, []string{"repo: must be a string, not a boolean"}},
		"list for a string":        {review, `{"repo":["a/b"],"pr_number":1}`, []string{"repo: must be a string, not a list"}},
		"object for a number":      {review, `{"repo":"a/b","pr_number":{"a":[1,{}]}}`, []string{"pr_number: not an object"}},
		"twice":                    {review, `{"repo":"a/b","pr_number":1,"repo":"a/b"}`, []string{"repo: more than once"}},
		"twice, once escaped":      {review, `{"repo":"a/b","pr_number":1,"rep\u006f":"a/b"}`, []string{"repo: more than once"}},
		"empty":                    {review, ``, []string{"repo: is required: a string", "pr_number: is required: an integer"}},
		"only space":               {review, " \n", []string{"repo: is required", "pr_number: is required"}},
		"empty object":             {review, `{}`, []string{"repo: is required", "pr_number: is required"}},
		"list":                     {review, `[]`, []string{"body: must be an object, not a list"}},
		"string":                   {review, `"x"`, []string{"body: must be an object, not a string"}},
		"top null":                 {review, `null`, []string{"body: must be an object, not null"}},
		"trailing bytes":           {review, `{"repo":"a/b","pr_number":1}x`, []string{"body: there is more after the end"}},
		"second object":            {review, `{"repo":"a/b","pr_number":1}{}`, []string{"body: there is more after the end"}},
		"trailing NUL":             {review, "{\"repo\":\"a/b\",\"pr_number\":1}\x00", []string{"body: there is more after the end"}},
		"cut off":                  {review, `{"repo":"a/b","pr_numb`, []string{"body: a string has no end"}},
		"trailing comma":           {review, `{"repo":"a/b",}`, []string{"body: a field name in double quotes"}},
		"no comma":                 {review, `{"repo":"a/b" "pr_number":1}`, []string{"body: column 15: '\"' where a comma or }"}},
		"single quotes":            {review, `{'repo':'a/b'}`, []string{"body: a field name in double quotes"}},
		"comment":                  {review, `{/**/"repo":"a/b"}`, []string{"body: a field name in double quotes"}},
		"leading zero":             {review, `{"repo":"a/b","pr_number":01}`, []string{"body: leading zeros"}},
		"plus":                     {review, `{"repo":"a/b","pr_number":+1}`, []string{"body: a value"}},
		"NaN":                      {review, `{"repo":"a/b","pr_number":NaN}`, []string{"body: a value"}},
		"invalid UTF-8":            {review, "{\"repo\":\"a/\xff\",\"pr_number\":1}", []string{"body: not valid UTF-8 at byte 11"}},
		"overlong UTF-8":           {review, "{\"repo\":\"a/\xc0\xaf\",\"pr_number\":1}", []string{"body: not valid UTF-8"}},
		"byte order mark":          {review, "\ufeff{}", []string{"body: where a value should be"}},
		"lone surrogate":           {review, `{"repo":"\ud800","pr_number":1}`, []string{"body: half of a surrogate pair"}},
		"wrong pair":               {review, `{"repo":"\ud800\u0041","pr_number":1}`, []string{"body: half of a surrogate pair"}},
		"raw control character":    {review, "{\"repo\":\"a\nb\",\"pr_number\":1}", []string{"body: control characters"}},
		"bad escape":               {review, `{"repo":"\x41","pr_number":1}`, []string{"body: 'x' where one of"}},
		"several at once":          {review, `{"repo":1,"pr_number":"1","x":2}`, []string{"repo: must be", "pr_number: must be", "x: unknown"}},
		"odd names are quoted":     {review, `{"repo":"a/b","pr_number":1,"a\nb":1}`, []string{`"a\nb": unknown`}},
		"long names are cut":       {review, `{"repo":"a/b","pr_number":1,"` + strings.Repeat("é", 100) + `":1}`, []string{`"…: unknown`}},
		"deep":                     {review, `{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, []string{"body: deeper than 32"}},
		"as deep as may be":        {review, `{"repo":"a/b","pr_number":1,"x":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `}`, []string{"x: unknown"}},
		"very deep":                {review, strings.Repeat("[", 500_000), []string{"body: deeper than 32"}},
		"rule":                     {rules, `{` + rule + `}`, nil},
		"whole rule":               {rules, `{` + rule + `,"scope":"repo","repo":"a/b","paths":{"include":["**"],"exclude":[]},"multiline":true,"redact":false,"cases":{"match":["x"],"no_match":[]},"references":["https://x"]}`, nil},
		"unknown type":             {rules, `{"id":"a","type":"ast","pattern":"x","message":"m","severity":"high"}`, []string{"type: must be `regex`, not \"ast\""}},
		"unspecified":              {rules, `{"id":"a","type":"unspecified","pattern":"x","message":"m","severity":"high"}`, []string{"type: must be `regex`"}},
		"enum number":              {rules, `{"id":"a","type":1,"pattern":"x","message":"m","severity":"high"}`, []string{"type: must be `regex`, not a number"}},
		"upper-case enum":          {rules, `{"id":"a","type":"regex","pattern":"x","message":"m","severity":"HIGH"}`, []string{"severity: must be one of `critical`, `high`, `medium`, `warning`, `low`, `info`, not \"HIGH\""}},
		"output only":              {rules, `{` + rule + `,"created_at":"2026-01-01T00:00:00Z"}`, []string{"created_at: set by the server"}},
		"output-only message":      {rules, `{` + rule + `,"matching_cost":{}}`, []string{"matching_cost: set by the server"}},
		"path in a list":           {rules, `{` + rule + `,"paths":{"include":["a","b",3]}}`, []string{"paths.include[2]: must be a string, not a number"}},
		"no list":                  {rules, `{` + rule + `,"references":"https://x"}`, []string{"references: must be a list of strings, not a string"}},
		"null in a list":           {rules, `{` + rule + `,"references":[null]}`, []string{"references[0]: must be a string, not null"}},
		"unknown field inside":     {rules, `{` + rule + `,"cases":{"noMatch":[]}}`, []string{"cases.noMatch: this one is `no_match`"}},
		"no object":                {rules, `{` + rule + `,"cases":[]}`, []string{"cases: must be an object, not a list"}},
		"number for a boolean":     {rules, `{` + rule + `,"multiline":1}`, []string{"multiline: must be true or false, not a number"}},
		"string for a boolean":     {rules, `{` + rule + `,"multiline":"true"}`, []string{"multiline: must be true or false, not a string"}},
		"time":                     {keys, `{"name":"a","scopes":["keys:admin"],"expires_at":"2030-01-01T00:00:00.123456789+01:00"}`, nil},
		"time without zone":        {keys, `{"name":"a","scopes":[],"expires_at":"2030-01-01T00:00:00"}`, []string{"expires_at: RFC 3339"}},
		"time with a comma":        {keys, `{"name":"a","scopes":[],"expires_at":"2030-01-01T00:00:00,5Z"}`, []string{"expires_at: RFC 3339"}},
		"time that does not exist": {keys, `{"name":"a","scopes":[],"expires_at":"2030-02-30T00:00:00Z"}`, []string{"expires_at: RFC 3339"}},
		"year 0":                   {keys, `{"name":"a","scopes":[],"expires_at":"0001-01-01T00:00:00+01:00"}`, []string{"expires_at: RFC 3339"}},
		"number for a time":        {keys, `{"name":"a","scopes":[],"expires_at":1893456000}`, []string{"expires_at: RFC 3339"}},
		"bound field":              {cancel, `{"review_id":"rev_x"}`, []string{"review_id: is taken from the path"}},
		"nothing required, empty":  {cancel, ``, nil},
		"nothing required, {}":     {cancel, `{}`, nil},
		"nothing allowed":          {cancel, `{"x":1}`, []string{"x: unknown field; allowed are none"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := tc.schema.Check([]byte(tc.body))
			require.Len(t, found, len(tc.want), "%v", found)
			for i, want := range tc.want {
				field, text, _ := strings.Cut(want, ": ")
				if !strings.HasSuffix(field, "…") {
					assert.Equal(t, field, found[i].Field)
				} else {
					assert.True(t, strings.HasSuffix(found[i].Field, "…"), found[i].Field)
				}
				assert.Contains(t, found[i].Description, text)
			}
		})
	}
}

func TestMistakesAreBounded(t *testing.T) {
	t.Parallel()
	body := `{"references":[` + strings.Repeat("1,", 100_000) + `1]}`
	assert.Len(t, schema(t, &prwardenv1.Rule{}).Check([]byte(body)), strictjson.MaxViolations)
}

func TestEveryRequestHasASchema(t *testing.T) {
	t.Parallel()
	for _, file := range []protoreflect.FileDescriptor{
		prwardenv1.File_prwarden_v1_review_proto, prwardenv1.File_prwarden_v1_rule_proto, prwardenv1.File_prwarden_v1_key_proto,
	} {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				_, err := strictjson.New(methods.Get(j).Input())
				assert.NoError(t, err)
			}
		}
	}
	_, err := strictjson.New((&prwardenv1.Finding{}).ProtoReflect().Descriptor())
	assert.ErrorContains(t, err, "bytes", "a kind that no request has is refused when the schema is made")
}

func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{` + rule + `}`,
		`{` + rule + `,"scope":"repo","repo":"a/b","paths":{"include":["**"]},"multiline":true,"cases":{"match":["\ud83d\ude00\u0000"]}}`,
		`{"repo":"a/b","pr_number":-0,"ruleset":"x"}`,
		`{"name":"a","scopes":["x"],"expires_at":"9999-12-31T23:59:59.999999999Z"}`,
		`{"pattern":"x","text":"` + "\u2028" + `"}`,
		`[1e400,{"a":null}]`,
	} {
		f.Add([]byte(seed))
	}
	type pair struct {
		schema *strictjson.Schema
		zero   proto.Message
	}
	var pairs []pair
	for _, m := range []proto.Message{
		&prwardenv1.Rule{}, &prwardenv1.CreateReviewRequest{}, &prwardenv1.CreateKeyRequest{}, &prwardenv1.TestRuleRequest{},
	} {
		pairs = append(pairs, pair{schema(f, m), m})
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range pairs {
			found := p.schema.Check(body)
			require.LessOrEqual(t, len(found), strictjson.MaxViolations)
			if len(found) > 0 || len(strings.TrimSpace(string(body))) == 0 {
				continue
			}
			m := p.zero.ProtoReflect().New().Interface()
			require.NoError(t, protojson.Unmarshal(body, m), "accepted here, refused by protojson")
			require.Empty(t, m.ProtoReflect().GetUnknown())
		}
	})
}

func BenchmarkCheckRule(b *testing.B) {
	s := schema(b, &prwardenv1.Rule{})
	body := []byte(`{` + rule + `,"paths":{"include":["**/*.go"],"exclude":["cmd/**"]},"cases":{"match":["fmt.Println(1)"],"no_match":["log.Print(1)"]}}`)
	b.Run("strict", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			s.Check(body)
		}
	})
	b.Run("protojson", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			_ = protojson.Unmarshal(body, &prwardenv1.Rule{})
		}
	})
}
