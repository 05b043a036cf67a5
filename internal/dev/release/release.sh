#!/usr/bin/env bash
# Builds the archives of a release from a commit (COMMIT, or the last) into dist/VERSION: for
# each system a static program with its completions, man pages, documents and
# the terms of what others wrote, an SBOM beside it, and one list of checksums.
# Two runs on one commit with one version of Go give the same bytes: the date of
# everything is that of the commit, and nothing comes from the work tree.
#
# Usage: release.sh VERSION [SYSTEM...], at the root of the repository on Linux.
set -euo pipefail

version=${1:-}
shift || true
[[ $version =~ ^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$ ]] || {
  echo "VERSION: \"$version\" is not a version; write it as v1.2.3 or v1.2.3-rc.1" >&2
  exit 2
}
systems=("$@")
[ $# -gt 0 ] || systems=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)

root=$PWD
commit=$(git rev-parse --verify "${COMMIT:-HEAD}^{commit}")
SOURCE_DATE_EPOCH=$(git show --no-patch --format=%ct "$commit")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/source" "$work/out"
git archive "$commit" | tar -x -C "$work/source"
cd "$work/source"

# Everything that the toolchain would take from the machine is fixed.
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C CGO_ENABLED=0 GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT= GOFIPS140=off \
  GOFLAGS=-trimpath GOWORK=off
package=github.com/prwarden/prwarden/internal/build

build() { # build OS ARCH FILE
  GOOS=$1 GOARCH=$2 go build -buildvcs=false -mod=readonly -o "$3" \
    -ldflags "-s -w -X $package.version=$version -X $package.commit=$commit" ./cmd/prwarden
}

# The terms of everything in a program that others wrote. Nobody may pass on a
# module that has none, so that is an error.
notices() { # notices PROGRAM
  local name folder terms
  echo "This program contains the following works under the following terms."
  {
    printf 'Go and its standard library\t%s\n' "$(go env GOROOT)"
    go version -m -json "$1" | jq -r '.Deps[]? | .Replace // . | .Path + "@" + .Version' |
      xargs go mod download -json | jq -r '.Path + " " + .Version + "\t" + .Dir'
  } | while IFS=$'\t' read -r name folder; do
    terms=$(find "$folder" -maxdepth 1 -type f | grep -iE '/(un)?(licen[cs]e|copying|notice|patents)([-.][^/]*)?$' | sort)
    [ -n "$terms" ] || { echo "$name has no file with its terms" >&2; exit 1; }
    while read -r file; do
      printf '\n%s\n%s: %s\n\n' "$(printf '=%.0s' {1..80})" "$name" "${file##*/}"
      cat "$file"
    done <<<"$terms"
  done
}

# The program for this machine writes what goes with all of them.
build linux "$(go env GOHOSTARCH)" "$work/prwarden"
mkdir "$work/completions"
"$work/prwarden" completion bash >"$work/completions/prwarden.bash"
"$work/prwarden" completion fish >"$work/completions/prwarden.fish"
"$work/prwarden" completion powershell >"$work/completions/prwarden.ps1"
"$work/prwarden" completion zsh >"$work/completions/_prwarden"

for system in "${systems[@]}"; do
  os=${system%/*} arch=${system#*/}
  name=prwarden_${version#v}_${os}_${arch}
  folder=$work/$name
  program=$folder/prwarden
  [ "$os" != windows ] || program+=.exe
  mkdir "$folder"
  build "$os" "$arch" "$program"
  cp -R README.md docs "$work/completions" "$folder/"
  find . -maxdepth 1 -type f -iname 'licen[cs]e*' -exec cp {} "$folder/" \;
  notices "$program" >"$folder/THIRD-PARTY-NOTICES.txt"
  case $os in
    linux | darwin) "$work/prwarden" man "$folder/man/man1" ;;
  esac

  go version -m -json "$program" | jq --arg version "$version" --arg os "$os" --arg arch "$arch" --arg commit "$commit" \
    --arg sum "$(sha256sum "$program" | cut -d' ' -f1)" --arg file "${program##*/}" \
    -f internal/dev/release/bom.jq >"$work/out/$name.cdx.json"

  chmod -R u=rwX,go=rX "$folder"
  find "$folder" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
  if [ "$os" = windows ]; then
    (cd "$work" && find "$name" -type f | sort | zip -q -X -9 "$work/out/$name.zip" -@)
  else
    tar -C "$work" --sort=name --format=pax --pax-option=delete=atime,delete=ctime --owner=root:0 --group=root:0 \
      -c "$name" | gzip -n -9 >"$work/out/$name.tar.gz"
  fi
  rm -rf "$folder"
  echo "$name"
done

(cd "$work/out" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
mkdir -p "$root/dist"
rm -rf "$root/dist/$version"
cp -R "$work/out" "$root/dist/$version"
echo "dist/$version is complete after $SECONDS s."
