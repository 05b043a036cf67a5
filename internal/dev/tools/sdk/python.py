"""A protoc plugin that makes Python's messages and gRPC stubs.

Both generators are built into grpcio-tools, which is a whole protoc and no
plugin; buf runs plugins. This passes the descriptors that it gets on to that
protoc.
"""

import pathlib
import sys
import tempfile

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2
from grpc_tools import protoc


def main() -> None:
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder, "image.binpb")
        out = pathlib.Path(folder, "out")
        out.mkdir()
        image.write_bytes(descriptor_pb2.FileDescriptorSet(file=request.proto_file).SerializeToString())
        status = protoc.main(
            ["protoc", f"--descriptor_set_in={image}", f"--python_out={out}", f"--grpc_python_out={out}"]
            + list(request.file_to_generate)
        )
        if status != 0:
            sys.exit(status)
        for path in sorted(out.rglob("*.py")):
            response.file.add(name=path.relative_to(out).as_posix(), content=path.read_text("utf-8"))
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
