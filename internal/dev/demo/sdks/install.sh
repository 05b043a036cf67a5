#!/usr/bin/env bash
# Installs one SDK from gen/ into an empty folder, as its users do, builds its
# examples there, and puts a program for each into examples/. Run from the root
# of the repository: install.sh LANGUAGE DIR.
set -euo pipefail
root=$PWD
language=$1
dir=$2
mkdir -p "$dir/examples"

# copy FOLDER copies what git knows of a folder of the repository: package
# managers build where the sources are.
copy() {
  git ls-files -z --cached --others --exclude-standard -- "$1" |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --null --files-from - -c | tar -x -C "$dir"
}

# example NAME COMMAND... makes a program of a command.
example() {
  local file=$dir/examples/$1
  shift
  printf '#!/bin/sh\nexec %s "$@"\n' "$*" >"$file"
  chmod +x "$file"
}

case $language in
  go)
    go build -o "$dir/program" ./gen/go/example
    example go "$dir/program"
    ;;
  python)
    copy gen/python
    cd "$dir"
    python3 -m venv venv
    program=$dir/gen/python/examples/review.py
    venv/bin/python -m pip --disable-pip-version-check install "$dir/gen/python[types]" mypy==2.4.1
    venv/bin/python -m mypy --strict "$program"
    venv/bin/python -m mypy --strict -p prwarden
    example python "$dir/venv/bin/python" "$program"
    ;;
  typescript)
    copy gen/typescript
    cd "$dir/gen/typescript"
    npm ci --ignore-scripts --no-audit --no-fund
    npm pack --pack-destination "$dir"
    # A user's project: the package from its archive, and the examples.
    mkdir "$dir/project"
    cp -R examples tsconfig.json "$dir/project/"
    cd "$dir/project"
    echo '{"name": "project", "type": "module"}' >package.json
    npm install --no-audit --no-fund "$dir"/prwarden-*.tgz typescript@5.9.3 @types/node@20
    node_modules/.bin/tsc --project examples
    example typescript-grpc node "$dir/project/dist/examples/review-grpc.js"
    example typescript-rest node "$dir/project/dist/examples/review-rest.js"
    ;;
  java)
    copy gen/java
    cd "$dir/gen/java"
    maven=(mvn --quiet --batch-mode "-Dmaven.repo.local=$root/bin/m2")
    "${maven[@]}" install
    "${maven[@]}" --file example/pom.xml package
    target=$dir/gen/java/example/target
    example java java -cp "'$target/classes:$target/dependency/*'" io.prwarden.example.ReviewExample
    ;;
esac
