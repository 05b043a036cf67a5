#!/bin/sh
# Makes gen/ from the protos. With --verify it changes nothing and fails when
# gen/ differs from what it would make, or holds files that git does not know.
# Run from the root of the repository, after bin/ and .third_party are there.
set -eu

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

bin/buf generate --output "$fresh"
# The Go package around the OpenAPI document is written by hand.
cp gen/openapi/*.go "$fresh/gen/openapi/"

if diff -r gen "$fresh/gen" >"$fresh/differences"; then
	same=yes
else
	same=no
fi

if [ "${1-}" = --verify ]; then
	if [ "$same" = no ]; then
		head -n 40 "$fresh/differences" | sed "s|$fresh/||g" >&2
		echo "gen/ is not what the protos make: run 'make generate' and commit the result." >&2
		exit 1
	fi
	untracked=$(git ls-files --others --exclude-standard -- gen)
	if [ -n "$untracked" ]; then
		echo "$untracked" >&2
		echo "These generated files are not committed." >&2
		exit 1
	fi
	echo "gen/ is up to date."
	exit 0
fi

if [ "$same" = yes ]; then
	echo "gen/ was up to date."
	exit 0
fi
# Files that are no longer made have to go, and files that did not change keep
# their time.
(cd gen && find . -type f) | while read -r file; do
	[ -e "$fresh/gen/$file" ] || rm "gen/$file"
done
(cd "$fresh/gen" && find . -type f) | while read -r file; do
	cmp -s "$fresh/gen/$file" "gen/$file" && continue
	mkdir -p "gen/$(dirname "$file")"
	cp "$fresh/gen/$file" "gen/$file"
	echo "gen/${file#./}"
done
