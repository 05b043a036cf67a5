#!/bin/sh
# Makes the generated part of gen/ from the protos. With --verify it changes
# nothing and fails when that differs from what it would make, or holds files
# that git does not know. Run from the root of the repository, after bin/,
# bin/sdk and .third_party are there.
set -eu

# What is made, files and folders. All else in gen/ is written by hand.
made="gen/go/prwarden/v1
gen/go/prwarden/scanner
gen/openapi/openapi.json
gen/python/src/prwarden/v1
gen/typescript/src/grpc/gen
gen/typescript/src/rest/gen
gen/java/src/main/java/io/prwarden/v1"

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

for template in buf.gen.yaml internal/dev/tools/buf.gen.sdk.yaml internal/dev/tools/buf.gen.errors.yaml; do
	bin/buf generate --template "$template" --output "$fresh"
done
mkdir -p "$fresh/gen/typescript/src/rest/gen"
bin/sdk/node/node_modules/.bin/openapi-typescript "$fresh/gen/openapi/openapi.json" \
	--output "$fresh/gen/typescript/src/rest/gen/openapi.ts" >/dev/null
# A Python package without this file is none for type checkers.
echo '"""Messages and gRPC stubs of version 1 of the API, made from its protos."""' >"$fresh/gen/python/src/prwarden/v1/__init__.py"

# Pages stand beside their templates, so they are made in a copy.
cp -r internal/server/web "$fresh/web"
bin/templ generate -path "$fresh/web" >/dev/null 2>&1

same=yes
for page in "$fresh"/web/*_templ.go; do
	cmp -s "$page" "internal/server/web/$(basename "$page")" && continue
	same=no
	echo "internal/server/web/$(basename "$page") is not what its template makes" >>"$fresh/differences"
done
for path in $made; do
	diff -r "$path" "$fresh/$path" >>"$fresh/differences" 2>&1 || same=no
done

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
cp "$fresh"/web/*_templ.go internal/server/web/
# Files that are no longer made have to go, and files that did not change keep
# their time.
for path in $made; do
	[ -e "$path" ] || continue
	find "$path" -type f
done | while read -r file; do
	[ -e "$fresh/$file" ] || rm "$file"
done
(cd "$fresh" && find gen -type f) | while read -r file; do
	cmp -s "$fresh/$file" "$file" && continue
	mkdir -p "$(dirname "$file")"
	cp "$fresh/$file" "$file"
	echo "$file"
done
