"""A protoc plugin that makes Java's messages.

It runs protoc's own generator, of which two things would not compile:

- It makes enum constants of the words of the REST API as they are, and `new`
  is no name in Java. Such constants get an underscore: `Finding.State.new_`.
  The descriptors keep the word, so JSON does, too.
- The text field `file` gets accessors for its bytes, `getFileBytes`, and so
  does the field `file_bytes`. That field is called `file_raw` here, and
  `file_bytes` in JSON.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2

KEYWORDS = (
    "abstract assert boolean break byte case catch char class const continue default do double else enum extends "
    "false final finally float for goto if implements import instanceof int interface long native new null package "
    "private protected public return short static strictfp super switch synchronized this throw throws transient "
    "true try void volatile while"
).split()

# The declaration of a constant, and the answer of forNumber. Neither is Java
# with a keyword in it, so nothing else can match.
ONE_OF_THEM = "(" + "|".join(KEYWORDS) + ")"
UNNAMEABLE = re.compile(rf"^(\s+){ONE_OF_THEM}(\(\d+\),)$|^(\s+case \d+: return ){ONE_OF_THEM}(;)$", re.MULTILINE)


def separate(message: descriptor_pb2.DescriptorProto) -> None:
    """Renames the fields whose accessors another field has already."""
    texts = {f.name for f in message.field if f.type == descriptor_pb2.FieldDescriptorProto.TYPE_STRING}
    for field in message.field:
        if field.name.endswith("_bytes") and field.name.removesuffix("_bytes") in texts:
            field.json_name = field.name
            field.name = field.name.removesuffix("_bytes") + "_raw"
    for inner in message.nested_type:
        separate(inner)


def rename(match: re.Match[str]) -> str:
    before, word, after = (group for group in match.groups() if group is not None)
    return f"{before}{word}_{after}"


def main() -> None:
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    response = plugin_pb2.CodeGeneratorResponse(
        supported_features=plugin_pb2.CodeGeneratorResponse.FEATURE_PROTO3_OPTIONAL
    )
    for file in request.proto_file:
        for message in file.message_type:
            separate(message)
    protoc = pathlib.Path(__file__).resolve().parents[4] / "bin" / "sdk" / "protoc"
    with tempfile.TemporaryDirectory() as folder:
        image = pathlib.Path(folder, "image.binpb")
        out = pathlib.Path(folder, "out")
        out.mkdir()
        image.write_bytes(descriptor_pb2.FileDescriptorSet(file=request.proto_file).SerializeToString())
        command = [os.fspath(protoc), f"--descriptor_set_in={image}", f"--java_out={out}", *request.file_to_generate]
        status = subprocess.run(command, stdout=sys.stderr, check=False).returncode
        if status != 0:
            sys.exit(status)
        for path in sorted(out.rglob("*.java")):
            content = UNNAMEABLE.sub(rename, path.read_text("utf-8"))
            response.file.add(name=path.relative_to(out).as_posix(), content=content)
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
