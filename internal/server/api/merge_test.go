package api

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
	"github.com/prwarden/prwarden/internal/errs"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	const before = `{"id": "a", "pattern": "x", "redact": true, "etag": "e",
		"paths": {"include": ["i"], "exclude": ["e"]}, "references": ["r"]}`
	for name, c := range map[string]struct {
		mask []string
		from string
		want string // "" for a mask that is refused
	}{
		"a text": {[]string{"pattern"}, `{"pattern": "y", "message": "not named"}`, `{"id": "a", "pattern": "y",
			"redact": true, "etag": "e", "paths": {"include": ["i"], "exclude": ["e"]}, "references": ["r"]}`},
		"what is named and not given is reset": {[]string{"redact", "paths", "references"}, `{}`,
			`{"id": "a", "pattern": "x", "etag": "e"}`},
		"a part": {[]string{"paths.include"}, `{"paths": {"include": ["j", "k"]}}`, `{"id": "a", "pattern": "x",
			"redact": true, "etag": "e", "paths": {"include": ["j", "k"], "exclude": ["e"]}, "references": ["r"]}`},
		"a part of what is not there": {[]string{"cases.match", "paths", "references", "redact"},
			`{"cases": {"match": ["x"]}}`, `{"id": "a", "pattern": "x", "etag": "e", "cases": {"match": ["x"]}}`},
		"what the server sets stays": {[]string{"id", "etag", "created_at", "created_by", "updated_at", "updated_by",
			"matching_cost"}, `{"id": "b", "etag": "f", "created_by": "me"}`, before},
		"no field":         {[]string{"patern"}, `{}`, ""},
		"no part":          {[]string{"paths.includes"}, `{}`, ""},
		"a part of a text": {[]string{"pattern.x"}, `{}`, ""},
		"a part of a list": {[]string{"references.x"}, `{}`, ""},
		"nothing":          {nil, `{"pattern": "y"}`, ""},
		"all of it":        {[]string{"*"}, `{"pattern": "y"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into, from := &prwardenv1.Rule{}, &prwardenv1.Rule{}
			require.NoError(t, protojson.Unmarshal([]byte(before), into))
			require.NoError(t, protojson.Unmarshal([]byte(c.from), from))
			from.CreatedAt = timestamppb.Now()

			err := merge(into, from, c.mask)
			if c.want == "" {
				assert.Equal(t, errs.InvalidArgument, errs.KindOf(err))
				return
			}
			require.NoError(t, err)
			want := &prwardenv1.Rule{}
			require.NoError(t, protojson.Unmarshal([]byte(c.want), want))
			assert.True(t, proto.Equal(want, into), "%v", into)
		})
	}
}
