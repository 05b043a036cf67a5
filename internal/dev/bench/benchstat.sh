#!/usr/bin/env bash
# Runs Go benchmarks of another checkout and of this one by turns, on one processor, and prints what benchstat says.
#   BEFORE=DIR   the other checkout               PKG=./internal/match   the package
#   BENCH=regexp which benchmarks, best only one  BEFORE_PKG=PKG         its place in the other checkout
#   COUNT=10     runs of each checkout            BENCHTIME=1s           or 100x
set -euo pipefail
cd "$(dirname "$0")/../../.."
: "${BEFORE:?name another checkout}" "${PKG:=./internal/match}" "${BENCH:=Match/thousand}"
: "${BEFORE_PKG:=$PKG}" "${COUNT:=10}" "${BENCHTIME:=1s}"

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
(cd "$BEFORE" && go test -c -o "$results/before.test" "$BEFORE_PKG")
go test -c -o "$results/after.test" "$PKG"

# A benchmark that runs alone gets its processor time, too, with its preparation: on a busy machine it holds still where
# the clock does not.
TIMEFORMAT='%U %S'
run() {
  local spent
  spent=$({ time (cd "$2" && "$results/$1.test" -test.run='^$' -test.bench="$BENCH" -test.benchtime="$BENCHTIME" \
    -test.benchmem -test.cpu=1 >"$results/out"); } 2>&1)
  awk -v spent="$spent" -v alone="$(grep -c '^Benchmark.*ns/op' "$results/out")" '
    /^Benchmark.*ns\/op/ && alone == 1 { split(spent, t, " "); printf "%s\t%.0f cpu-ns/op\n", $0, 1e9 * (t[1] + t[2]) / $2; next }
    { print }' "$results/out" >>"$results/$1"
}

for _ in $(seq "$COUNT"); do
  run before "$BEFORE/$BEFORE_PKG"
  run after "$PKG"
done
cd "$results" && go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da before after
