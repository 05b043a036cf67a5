# prwarden. `make` lists what there is to do.

# Go and the tools it installed may not be on the PATH of a fresh machine.
export PATH := $(PATH):/usr/local/go/bin:$(HOME)/go/bin

# The commit goes into the binary where git can tell it.
BUILDVCS := $(shell git -C $(CURDIR) rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
GO_BUILD := go build -buildvcs=$(BUILDVCS)

FUZZTIME ?= 10s
BENCH ?= .
PKG ?= ./...

.DEFAULT_GOAL := help
.PHONY: help demo run build build-client test test-api test-hosts test-browser test-limits screenshots test-sdks race lint lint-openapi lint-jobs fmt fuzz bench bench-service bench-overload bench-review bench-tenants bench-hosts bench-people benchstat judge judge-report build-bench bench-peers microbench chaos chaos-hosts chaos-short tidy-check release test-release ci clean need-go need-git need-curl need-jq need-zip need-unzip need-postgres

help: ## List the targets
	@echo "prwarden: scans pull requests against rules"
	@echo
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile internal/dev/tools/generate.mk

demo: build ## Scan a sample pull request before and after a second push (some minutes when nothing is built yet)
	@bin/demo

run: build ## Start a server to play with, and print a key and curl lines; Ctrl-C stops it
	@bin/demo -stay

build: need-go need-git ## Build bin/prwarden
	@mkdir -p bin
	@echo "Building bin/prwarden; the first time takes some minutes."
	@$(GO_BUILD) -o bin/ ./cmd/prwarden ./internal/dev/demo

build-client: need-go ## Check that the client commands build for macOS and Windows
	@for os in darwin windows; do GOOS=$$os CGO_ENABLED=0 go build -trimpath -o /dev/null ./cmd/prwarden || exit 1; done

test: need-git need-curl need-postgres tools-test ## Run every test; fails on a skipped one (PKG=./internal/config for some)
	@internal/dev/tools/test/run.sh -timeout 30m $(PKG)

race: need-git need-curl need-postgres tools-test ## Run every test with the race detector (needs a C compiler)
	@CGO_ENABLED=1 internal/dev/tools/test/run.sh -race -timeout 30m $(PKG)

test-api: need-go need-git ## Test the REST API by requests made from its OpenAPI document (needs Python 3; LONG=1 for over 20,000)
	@.ci/property-test

test-hosts: need-go ## Test code hosts against the documents that vendors publish (needs Node.js with npm)
	@.ci/test-hosts

test-browser: need-go need-git ## Test the dashboard in Chromium (needs Node.js with npm; BROWSERFLAGS='-run Access')
	@.ci/test-browser $(BROWSERFLAGS)

screenshots: need-go need-git ## Take pictures of every screen into bin/screenshots, and those of docs/dashboard
	@SCREENSHOTS=$(CURDIR)/bin/screenshots .ci/test-browser -run Access
	@for picture in reviews-light review-open-light findings-dark; do \
	  name=$${picture%-*}; cp bin/screenshots/$$picture-1440.png docs/dashboard/$${name%-open}.png; done

test-limits: need-go need-git need-postgres ## Test pushes of 5,000 rules and the memory of hostile ones at full size
	@PRWARDEN_RULES=5000 PRWARDEN_ATTACK=300 go test -count=1 -v -run '^(TestManyRules|TestHostileRulesLeaveMemory)$$' \
	  ./internal/dev/blackbox

test-sdks: need-go need-git need-languages ## Install each SDK and run its example on a real server (SDKFLAGS='-only python')
	@mkdir -p bin
	@$(GO_BUILD) -o bin/ ./cmd/prwarden ./internal/dev/demo/sdks
	@bin/sdks $(SDKFLAGS)

lint: need-go tools-lint ## Check format, import directions, style, and the workflows in docs/ci.md
	@unformatted=$$(gofmt -l cmd gen internal migrations); \
	  if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:" $$unformatted; exit 1; fi
	@bin/golangci-lint run
	@bin/workflows .github/actions/*/action.yml docs/ci.md

lint-openapi: ## Lint the OpenAPI document by every rule of Spectral and OWASP (needs Node.js)
	@.ci/lint-openapi

lint-jobs: ## Check the jobs in docs/ci.md against the schemas of the CI services (needs Python 3)
	@.ci/lint-jobs

fmt: need-go ## Format the code
	gofmt -w cmd internal migrations

fuzz: need-go need-git ## Run each fuzz target for FUZZTIME (10s)
	@for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' internal gen | xargs -n1 dirname | sort -u); do \
	  case $$dir in internal/dev/tools/*) continue;; esac; \
	  for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$dir/*_test.go | cut -d' ' -f2); do \
	    echo "$$dir $$target"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x ./$$dir || exit 1; \
	  done; \
	done

bench: need-go need-git build-bench ## Compare whole scans with gitleaks, betterleaks and ripgrep (BENCHFLAGS='-corpus DIR -before BINARY')
	@bin/bench peers -corpus "$$(go env GOROOT)/src" $(BENCHFLAGS)

bench-service: need-go need-git need-postgres build-bench ## Measure reading and creating reviews (BENCHFLAGS='-databases sqlite -before BINARY')
	@bin/bench requests $(BENCHFLAGS)

bench-overload: need-go need-git need-postgres build-bench ## Ask a server for ten times as much as it can do (BENCHFLAGS='-for 5m')
	@bin/bench overload $(BENCHFLAGS)

bench-review: need-go need-git build-bench ## Measure whole reviews (BENCHFLAGS='-repo DIR -range BASE...HEAD -before BINARY')
	@bin/bench review $(BENCHFLAGS)

bench-tenants: need-go need-git build-bench ## Measure 199 organizations beside a hostile one (BENCHFLAGS='-for 1m -database postgres')
	@bin/bench tenants $(BENCHFLAGS)

bench-hosts: need-go need-git build-bench ## Measure from a push to its verdict, and a flood of forged deliveries (BENCHFLAGS='-database postgres')
	@bin/bench hosts $(BENCHFLAGS)

bench-people: need-go need-git build-bench ## Measure pages that 50 people read for five minutes while pull requests are scanned (BENCHFLAGS='-for 20s')
	@bin/bench people $(BENCHFLAGS)

benchstat: need-go ## Compare Go benchmarks with another checkout (BEFORE=../before BENCH=Match PKG=./internal/match COUNT=10)
	@internal/dev/bench/benchstat.sh

judge: need-go need-git ## Build bin/judge, which measures what findings are worth (docs/measuring.md)
	@mkdir -p bin
	@$(GO_BUILD) -o bin/ ./cmd/prwarden ./internal/dev/judge

judge-report: judge ## Write the figures of the committed judgements into docs/default-ruleset.md
	@bin/judge report -doc docs/default-ruleset.md

build-bench:
	@mkdir -p bin
	@$(GO_BUILD) -o bin/ ./cmd/prwarden ./internal/dev/bench ./internal/dev/bench/bare

bench-peers: need-go ## Build gitleaks and betterleaks into bin/peers for make bench, some minutes
	@mkdir -p bin/peers
	@for module in github.com/zricethezav/gitleaks/v8@v8.30.1 github.com/betterleaks/betterleaks@v1.1.1; do \
	  source=$$(go mod download -json $$module | sed -n 's/.*"Dir": "\(.*\)",*/\1/p') && \
	  (cd "$$source" && go build -buildvcs=false -o $(CURDIR)/bin/peers/ .) || exit 1; \
	done

chaos: need-go need-git need-postgres ## Kill, freeze and cut off parts of an installation in use, and check every promise, 15 minutes (CHAOSFLAGS='-seed 7')
	@mkdir -p bin
	@$(GO_BUILD) -o bin/ ./cmd/prwarden ./internal/dev/chaos
	@$(OWN_MOUNTS) bin/chaos $(CHAOSFLAGS)
	@$(OWN_MOUNTS) bin/chaos -database sqlite -reviews 1000 -for 90s -fill-every 15s $(CHAOSFLAGS)

# Disks that chaos mounts as root are gone with it, however it ends.
OWN_MOUNTS = $(shell unshare --mount true 2>/dev/null && echo unshare --mount)

chaos-short: need-go need-git need-postgres ## The same for a minute on each database
	@$(MAKE) --no-print-directory chaos CHAOSFLAGS='-reviews 300 -for 60s $(CHAOSFLAGS)'

chaos-hosts: need-go need-git need-postgres ## Kill servers while they publish in code hosts that fail, 15 minutes (CHAOSFLAGS='-seed 7')
	@mkdir -p bin
	@$(GO_BUILD) -o bin/ ./cmd/prwarden ./internal/dev/chaos
	@bin/chaos -hosts -kill-every 1500ms -settle 15m $(CHAOSFLAGS)

microbench: need-go need-git need-postgres ## Run the benchmarks of Go packages (BENCH=regexp, PKG=package)
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(PKG)

tidy-check: need-go ## Fail when go.mod or go.sum are not what go mod tidy makes
	go mod tidy -diff

release: need-go need-git need-jq need-zip ## Build the archives of a release from the last commit into dist/ (VERSION=v1.2.3)
	@internal/dev/release/release.sh '$(VERSION)' $(SYSTEMS)

test-release: need-go need-git need-jq need-zip need-unzip ## Build a release twice, fail when a byte differs, and try it; some minutes (SYSTEMS=darwin/arm64)
	@.ci/release

ci: ## Everything that CI checks
	@.ci/run

clean: ## Remove what was built, and the server of make run
	rm -rf bin dist .run .demo .third_party

# Targets that work on generated code: generate, verify-generate, lint-protos, …
include internal/dev/tools/generate.mk

need-go:
	@command -v go >/dev/null || { \
	  echo "prwarden needs Go $$(sed -n 's/^go //p' go.mod) or newer, which is not installed. Get it from https://go.dev/dl/ and try again." >&2; exit 1; }

# git reads repositories, in tests too. With curl the jobs for CI services fetch
# archives, and tests run them. The others pack releases.
need-git need-curl need-jq need-zip need-unzip: need-%:
	@command -v $* >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing $*." && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $* ca-certificates >/dev/null; \
	else \
	  echo "This needs $*, which is not installed. Install it (for example: sudo apt-get install $*) and try again." >&2; exit 1; \
	fi

# Tests start Postgres servers of their own. Where it is installed for that, no
# server is made or started for the machine.
need-postgres:
	@command -v initdb >/dev/null && exit 0; \
	for initdb in /usr/lib/postgresql/*/bin/initdb; do [ -x "$$initdb" ] && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing Postgres." && apt-get update -qq && export DEBIAN_FRONTEND=noninteractive && \
	  apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null && \
	  sed -i 's/^#*create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf && \
	  apt-get install -y -qq --no-install-recommends postgresql >/dev/null; \
	else \
	  echo "The tests need a Postgres server, which is not installed. Install it (for example: sudo apt-get install postgresql) and try again." >&2; exit 1; \
	fi
