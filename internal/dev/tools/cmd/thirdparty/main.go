// Command thirdparty writes the .proto files that ours import and that are not
// our own, from the descriptors compiled into the Go packages generated from
// them. So generation needs no schema registry and no vendored copies, and the
// files always agree with the Go modules that the generated code links.
//
// Usage: thirdparty [-well-known] DIR. DIR is made when it is not there.
// -well-known writes google/protobuf/*.proto too, as far as they are imported,
// for compilers that come without them.
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
	if err := run(flag.Arg(0), *wellKnown); err != nil {
		fmt.Fprintln(os.Stderr, "thirdparty:", err)
		os.Exit(1)
	}
}

// roots returns the files to write; what they import comes along.
func roots() []protoreflect.FileDescriptor {
	return []protoreflect.FileDescriptor{
		annotations.File_google_api_annotations_proto,
		annotations.File_google_api_field_behavior_proto,
		httpbody.File_google_api_httpbody_proto,
		code.File_google_rpc_code_proto,
		errdetails.File_google_rpc_error_details_proto,
		status.File_google_rpc_status_proto,
		validate.File_buf_validate_validate_proto,
		openapiv2.File_protoc_gen_openapiv2_options_annotations_proto,
	}
}

func run(dir string, wellKnown bool) error {
	files := map[string]protoreflect.FileDescriptor{}
	for _, root := range roots() {
		collect(root, wellKnown, files)
	}
	printer := &protoprint.Printer{SortElements: true}
	for path, file := range files {
		if err := write(printer, filepath.Join(dir, filepath.FromSlash(path)), file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}

	return nil
}

// collect adds file and what it imports. Of the well-known types it does so
// when it is told to: nearly every compiler brings those.
func collect(file protoreflect.FileDescriptor, wellKnown bool, into map[string]protoreflect.FileDescriptor) {
	if !wellKnown && strings.HasPrefix(file.Path(), "google/protobuf/") {
		return
	}
	if _, ok := into[file.Path()]; ok {
		return
	}
	into[file.Path()] = file
	for i := range file.Imports().Len() {
		collect(file.Imports().Get(i).FileDescriptor, wellKnown, into)
	}
}

func write(printer *protoprint.Printer, path string, file protoreflect.FileDescriptor) error {
	wrapped, err := desc.WrapFile(file)
	if err != nil {
		return err
	}
	text, err := printer.PrintProtoToString(wrapped)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}
