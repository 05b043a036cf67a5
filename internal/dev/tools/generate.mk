# Generation of the code in gen/ from the protos, and checks of the protos.
# The Makefile includes this file; paths are relative to the root of the
# repository. docs/decisions/0001-code-generation.md says why it is so.

.PHONY: generate verify-generate test-tools lint-protos format-protos breaking tools tools-test tools-lint tools-sdks third-party protos test-protos need-languages

# Stamps say that the tools in bin/ are those of their go.mod.
tools_generators := bin/.generators
tools_tests := bin/.tests
tools_linters := bin/.linters
tools_sdks := bin/.sdks

$(tools_generators): internal/dev/tools/go.mod internal/dev/tools/go.sum $(wildcard internal/dev/tools/cmd/*/*)
	@mkdir -p bin
	@echo "Building the generators into bin/; the first time takes some minutes."
	@cd internal/dev/tools && go build -buildvcs=false -o ../../../bin/ tool ./cmd/...
	@touch $@

$(tools_tests): internal/dev/tools/test/go.mod internal/dev/tools/test/go.sum | need-go
	@mkdir -p bin
	@echo "Building gotestsum into bin/."
	@cd internal/dev/tools/test && go build -buildvcs=false -o ../../../../bin/ tool
	@touch $@

$(tools_linters): internal/dev/tools/lint/go.mod internal/dev/tools/lint/go.sum $(wildcard internal/dev/tools/lint/cmd/*/*.go)
	@mkdir -p bin
	@echo "Building golangci-lint, govulncheck and actionlint into bin/; the first time takes some minutes."
	@cd internal/dev/tools/lint && go build -buildvcs=false -o ../../../../bin/ tool ./cmd/...
	@touch $@

$(tools_sdks): internal/dev/tools/sdk/install.sh internal/dev/tools/sdk/pom.xml internal/dev/tools/sdk/requirements.txt gen/typescript/package-lock.json | need-languages
	@mkdir -p bin
	@echo "Installing the generators for Python, TypeScript and Java into bin/sdk; that takes half a minute."
	@internal/dev/tools/sdk/install.sh
	@touch $@

tools: $(tools_generators) ## Build the code generators into bin/

tools-test: $(tools_tests) ## Build gotestsum into bin/

tools-lint: $(tools_linters) ## Build golangci-lint, govulncheck and actionlint into bin/

tools-sdks: $(tools_sdks) ## Install the generators for Python, TypeScript and Java into bin/sdk

third-party: $(tools_generators)
	@rm -rf .third_party
	@bin/thirdparty .third_party

generate: third-party tools-sdks ## Regenerate gen/ from the protos
	@internal/dev/tools/generate.sh

verify-generate: third-party tools-sdks ## Fail when gen/ is not what the protos make
	@internal/dev/tools/generate.sh --verify

# The other languages have their tools from their own registries.
need-languages:
	@missing=; \
	python3 -c 'import venv, ensurepip' 2>/dev/null || missing="$$missing python3-venv"; \
	command -v npm >/dev/null || missing="$$missing nodejs npm"; \
	command -v javac >/dev/null || missing="$$missing default-jdk-headless"; \
	command -v mvn >/dev/null || missing="$$missing maven"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing$$missing." && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null || exit 1; \
	elif [ -n "$$missing" ]; then \
	  echo "The SDKs need Python 3.10, Node 20 with npm, a JDK 17 and Maven, or newer ones. Install (here by the names of Debian's packages):$$missing" >&2; exit 1; \
	fi; \
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "The SDKs need Python 3.10 or newer; this is $$(python3 --version). Get it from https://www.python.org and try again." >&2; exit 1; }; \
	node -e 'process.exit(parseInt(process.versions.node) >= 20 ? 0 : 1)' || { \
	  echo "The SDKs need Node 20 or newer; this is $$(node --version). Get it from https://nodejs.org and try again." >&2; exit 1; }

test-tools: ## Test the generators themselves
	@cd internal/dev/tools && go test ./... && cd lint && go test ./cmd/...

protos: need-go ## Write the protos and all that they import into DIR, to generate code in other languages
	@[ -n "$(DIR)" ] || { echo "Say where: make protos DIR=some/folder" >&2; exit 2; }
	@internal/dev/tools/protos.sh "$(DIR)"

test-protos: need-go tools-sdks ## Check that a plain protoc compiles what make protos writes
	@internal/dev/tools/protos.sh --test

lint-protos: third-party ## Lint the protos and check their format
	@bin/buf lint
	@bin/buf format --diff --exit-code proto

format-protos: third-party ## Rewrite the protos in the standard format
	@bin/buf format --write proto

breaking: third-party ## Fail when the protos break what BASE (default: the previous commit) promised
	@internal/dev/tools/breaking.sh $(BASE)
