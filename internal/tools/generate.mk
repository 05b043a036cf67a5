# Generation of the code in gen/ from the protos, and checks of the protos.
# The Makefile includes this file; paths are relative to the root of the
# repository. docs/decisions/0001-code-generation.md says why it is so.

.PHONY: generate verify-generate test-tools lint-protos format-protos breaking tools tools-lint third-party

# Stamps say that the tools in bin/ are those of their go.mod.
tools_generators := bin/.generators
tools_linters := bin/.linters

$(tools_generators): internal/tools/go.mod internal/tools/go.sum $(wildcard internal/tools/cmd/*/*.go)
	@mkdir -p bin
	@echo "Building the generators into bin/; the first time takes some minutes."
	@cd internal/tools && go build -buildvcs=false -o ../../bin/ tool ./cmd/...
	@touch $@

$(tools_linters): internal/tools/lint/go.mod internal/tools/lint/go.sum
	@mkdir -p bin
	@echo "Building golangci-lint and govulncheck into bin/; the first time takes some minutes."
	@cd internal/tools/lint && go build -buildvcs=false -o ../../../bin/ tool
	@touch $@

tools: $(tools_generators) ## Build the code generators into bin/

tools-lint: $(tools_linters) ## Build golangci-lint and govulncheck into bin/

third-party: $(tools_generators)
	@bin/thirdparty .third_party

generate: third-party ## Regenerate gen/ from the protos
	@internal/tools/generate.sh

verify-generate: third-party ## Fail when gen/ is not what the protos make
	@internal/tools/generate.sh --verify

test-tools: ## Test the generators themselves
	@cd internal/tools && go test ./...

lint-protos: third-party ## Lint the protos and check their format
	@bin/buf lint
	@bin/buf format --diff --exit-code proto

format-protos: third-party ## Rewrite the protos in the standard format
	@bin/buf format --write proto

breaking: third-party ## Fail when the protos break what BASE (default: the previous commit) promised
	@internal/tools/breaking.sh $(BASE)
