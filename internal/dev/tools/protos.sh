#!/bin/sh
# Writes the public protos and all that they import into a folder, for users
# who generate code in another language. Usage: protos.sh DIR. Run from the root
# of the repository.
#
# With --test it writes them into an empty place, and makes a plain protoc, which
# has no file but these, compile them and generate code from them.
set -eu

# DIR is the user's, so what is in it already stays.
write() {
	imports=$(mktemp -d)
	go -C internal/dev/tools run ./cmd/thirdparty -well-known "$imports"
	mkdir -p "$1/prwarden"
	cp -R "$imports/." "$1/"
	cp -R proto/prwarden/v1 "$1/prwarden/"
	rm -rf "$imports"
}

if [ "$1" != --test ]; then
	write "$1"
	echo "$(find "$1/prwarden/v1" -name '*.proto' | wc -l | tr -d ' ') protos of prwarden and what they import are in $1."
	echo "Compile them with: protoc -I $1 --YOUR_LANGUAGE_out=… $1/prwarden/v1/*.proto"
	exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
write "$dir/protos"
mkdir "$dir/out"
find "$dir/protos" -name '*.proto' -print0 | xargs -0 bin/sdk/protoc -I "$dir/protos" --descriptor_set_out="$dir/set"
# These generators are built into protoc; others get the same descriptors.
bin/sdk/protoc -I "$dir/protos" --cpp_out="$dir/out" --csharp_out="$dir/out" --php_out="$dir/out" --ruby_out="$dir/out" \
	"$dir"/protos/prwarden/v1/*.proto
if [ -e "$dir/protos/prwarden/scanner" ]; then
	echo "protos: the protocol between servers and scanners is not public, and is there." >&2
	exit 1
fi
echo "protoc compiles $(find "$dir/protos" -name '*.proto' | wc -l | tr -d ' ') protos and generates $(find "$dir/out" -type f | wc -l | tr -d ' ') files from them."
