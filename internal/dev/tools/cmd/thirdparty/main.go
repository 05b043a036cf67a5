// Command thirdparty writes the .proto files that ours import and that are not our own, from the descriptors compiled
// into the Go packages generated from them. So generation needs no schema registry and no vendored copies, and the
// files always agree with the Go modules that the generated code links.
//
// Usage: thirdparty [-well-known] DIR. DIR is made when it is not there. -well-known writes google/protobuf/*.proto
// too, as far as they are imported, for compilers that come without them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jhump/protoreflect/desc" //nolint:staticcheck // protoprint takes its types
	"github.com/jhump/protoreflect/desc/protoprint"
	"google.golang.org/protobuf/reflect/protoreflect"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	openapiv2 "github.com/grpc-ecosystem/grpc-gateway/v2/protoc-gen-openapiv2/options"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/genproto/googleapis/rpc/status"
)

func main() {
	wellKnown := flag.Bool("well-known", false, "write google/protobuf/*.proto too")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: thirdparty [-well-known] DIR")
		os.Exit(2)
	}

	files := map[string]protoreflect.FileDescriptor{}
	for _, root := range []protoreflect.FileDescriptor{
		annotations.File_google_api_annotations_proto,
		annotations.File_google_api_field_behavior_proto,
		httpbody.File_google_api_httpbody_proto,
		code.File_google_rpc_code_proto,
		errdetails.File_google_rpc_error_details_proto,
		status.File_google_rpc_status_proto,
		validate.File_buf_validate_validate_proto,
		openapiv2.File_protoc_gen_openapiv2_options_annotations_proto,
	} {
		collect(root, *wellKnown, files)
	}
	for path, file := range files {
		if err := write(filepath.Join(flag.Arg(0), path), file); err != nil {
			fmt.Fprintf(os.Stderr, "thirdparty: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

// collect adds a file and what it imports. Of the well-known types it does so when it is told to: nearly every compiler
// brings those.
func collect(file protoreflect.FileDescriptor, wellKnown bool, into map[string]protoreflect.FileDescriptor) {
	if into[file.Path()] != nil || !wellKnown && strings.HasPrefix(file.Path(), "google/protobuf/") {
		return
	}
	into[file.Path()] = file
	for i := range file.Imports().Len() {
		collect(file.Imports().Get(i).FileDescriptor, wellKnown, into)
	}
}

func write(path string, file protoreflect.FileDescriptor) error {
	wrapped, err := desc.WrapFile(file)
	if err != nil {
		return err
	}
	text, err := (&protoprint.Printer{SortElements: true}).PrintProtoToString(wrapped)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
