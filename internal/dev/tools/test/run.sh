#!/bin/sh
# Runs go test with these arguments through gotestsum, from the root of the
# repository. A skipped test fails, because it would hide a part that is missing.
set -u
results=$(mktemp)
trap 'rm -f "$results"' EXIT

bin/gotestsum --format pkgname-and-test-fails --jsonfile-timing-events "$results" -- "$@"
status=$?

count() { grep "\"Action\":\"$1\"" "$results" | grep -c '"Test":'; }
passed=$(count pass)
failed=$(count fail)
skipped=$(count skip)

# A package can fail without a test: it does not build, or it ends early.
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1

echo "$passed tests passed, $failed failed, $skipped skipped"
[ "$status" -eq 0 ] && [ "$passed" -gt 0 ] && [ "$skipped" -eq 0 ]
