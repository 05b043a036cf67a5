#!/bin/sh
# Fails when the protos break what those of an earlier commit promised.
# Usage: breaking.sh [COMMIT], by default the previous commit. Run from the
# root of the repository, after bin/ and .third_party are there.
#
# Both sides are compared as images, because the imports of the earlier commit
# are not in git.
set -eu

base=${1:-HEAD~1}
if ! git rev-parse --quiet --verify "$base^{commit}" >/dev/null; then
	if [ $# -gt 0 ]; then
		echo "breaking: there is no commit $base here." >&2
		exit 1
	fi
	echo "breaking: there is no previous commit here (first commit or shallow clone): nothing to compare with."
	exit 0
fi
if ! git cat-file -e "$base:buf.yaml" 2>/dev/null; then
	echo "breaking: $base has no buf.yaml: nothing to compare with."
	exit 0
fi

old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
mkdir "$old/tree"
git archive "$base" buf.yaml proto | tar -x -C "$old/tree"
cp -R .third_party "$old/tree/.third_party"
(bin=$PWD/bin && cd "$old/tree" && "$bin/buf" build proto --output "$old/before.binpb")
bin/buf build proto --output "$old/after.binpb"
bin/buf breaking "$old/after.binpb" --against "$old/before.binpb" --exclude-imports
echo "breaking: nothing that $base promised is broken."
