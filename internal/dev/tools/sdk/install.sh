#!/bin/sh
# Installs what makes the Python, TypeScript and Java packages into bin/sdk, by
# the ordinary clients of their registries, at versions that are pinned with
# checksums: requirements.txt, gen/typescript/package-lock.json, maven.sha256.
# Run from the root of the repository.
set -eu

here=internal/dev/tools/sdk
protoc=4.31.1    # what grpcio-tools in requirements.txt contains
grpc_java=1.78.0 # as in gen/java/pom.xml

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) system=linux-x86_64 ;;
Linux-aarch64) system=linux-aarch_64 ;;
Darwin-x86_64) system=osx-x86_64 ;;
Darwin-arm64) system=osx-aarch_64 ;;
*)
	echo "There are no generators for Java for $(uname -s) on $(uname -m); use Linux or macOS on x86-64 or arm64." >&2
	exit 1
	;;
esac

checksums=sha256sum
command -v sha256sum >/dev/null || checksums='shasum -a 256' # macOS

rm -rf bin/sdk
mkdir -p bin/sdk/node bin/sdk/maven

# Each writes what it did into a log that is shown when it fails.
quiet() {
	"$@" >bin/sdk/log 2>&1 && return 0
	cat bin/sdk/log >&2
	exit 1
}

quiet python3 -m venv bin/sdk/python
quiet bin/sdk/python/bin/pip --disable-pip-version-check install --require-hashes --only-binary :all: -r "$here/requirements.txt"

cp gen/typescript/package.json gen/typescript/package-lock.json bin/sdk/node/
quiet npm --prefix bin/sdk/node ci --ignore-scripts --no-audit --no-fund

# get ARTIFACT NAME fetches one program, as bin/sdk/NAME.
get() {
	quiet mvn -B -Dmaven.repo.local="$PWD/bin/m2" -f "$here/pom.xml" dependency:copy -Dartifact="$1:exe:$system" -DoutputDirectory="$PWD/bin/sdk/maven"
	file=$(basename bin/sdk/maven/"$2"-[0-9]*.exe)
	if ! grep -F "  $file" "$here/maven.sha256" | (cd bin/sdk/maven && $checksums -c --status); then
		echo "$file is not what internal/dev/tools/sdk/maven.sha256 says it is." >&2
		exit 1
	fi
	chmod +x "bin/sdk/maven/$file"
	mv "bin/sdk/maven/$file" "bin/sdk/$2"
}
get "com.google.protobuf:protoc:$protoc" protoc
get "io.grpc:protoc-gen-grpc-java:$grpc_java" protoc-gen-grpc-java
rm -f bin/sdk/log
