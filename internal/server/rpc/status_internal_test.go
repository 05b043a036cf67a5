package rpc

import (
	"testing"

	validatepb "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	prwardenv1 "github.com/prwarden/prwarden/gen/go/prwarden/v1"
)

// Callers read words, not regular expressions.
func TestEveryPatternHasWords(t *testing.T) {
	t.Parallel()
	n := 0
	pkg := prwardenv1.File_prwarden_v1_audit_proto.Package()
	var check func(protoreflect.MessageDescriptors)
	check = func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			check(messages.Get(i).Messages())
			for j := range messages.Get(i).Fields().Len() {
				field := messages.Get(i).Fields().Get(j)
				rules, _ := proto.GetExtension(field.Options(), validatepb.E_Field).(*validatepb.FieldRules)
				for _, text := range []*validatepb.StringRules{rules.GetString(), rules.GetRepeated().GetItems().GetString()} {
					if pattern := text.GetPattern(); pattern != "" {
						n++
						assert.NotContains(t, describePattern(pattern), "regex", "%s", field.FullName())
					}
				}
			}
		}
	}
	protoregistry.GlobalFiles.RangeFilesByPackage(pkg, func(file protoreflect.FileDescriptor) bool {
		check(file.Messages())
		return true
	})
	assert.GreaterOrEqual(t, n, 10)
}
