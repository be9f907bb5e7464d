# Every target works on a fresh machine with Go and git. `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help
GO ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
# When the commit was made, in UTC: by it packages sort that have no tag.
COMMITTED ?= $(shell TZ=UTC0 git log -1 --date=format-local:%Y%m%d%H%M%S --format=%cd 2>/dev/null || echo 0)
# The tool and the agent say the same version, from the image and the package too.
LINK = -ldflags "-s -w -X main.version=$(VERSION)"
FUZZTIME ?= 20s
# The modules of this repository: the product, and tests that need what the
# product must not depend on.
MODULES := $(patsubst %/go.mod,%,$(wildcard go.mod testenv/*/go.mod))
MODULES := $(patsubst go.mod,.,$(MODULES))

.PHONY: help build deb demo check test test-vm test-openstack e2e bench fuzz golden clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

build: ## build bin/homeward and bin/homeward-agent, the agent also for its image
	$(GO) build -trimpath $(LINK) -o bin/ ./cmd/homeward
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 $(GO) build -trimpath $(LINK) -o bin/homeward-agent-linux-amd64 ./cmd/homeward-agent
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -trimpath $(LINK) -o bin/homeward-agent-linux-arm64 ./cmd/homeward-agent
	CGO_ENABLED=0 $(GO) build -trimpath $(LINK) -o bin/homeward-agent ./cmd/homeward-agent

deb: build ## build the Debian packages of the agent for Proxmox hosts, bin/homeward-host_*.deb
	@set -e; cd testenv/deb; for arch in amd64 arm64; do \
	  $(GO) run . -agent ../../bin/homeward-agent-linux-$$arch -arch $$arch -version "$(VERSION)" -committed "$(COMMITTED)" -out ../../bin; done

demo: build ## plan, generate and validate the example, let replies come home, say where to look
	$(GO) run ./testenv/demo -homeward bin/homeward -out out/demo

check: ## formatting, vet, staticcheck, tidy modules, the dependency rules
	@fmt=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$fmt" ]; then echo "gofmt would change:"; echo "$$fmt"; exit 1; fi
	@set -e; for m in $(MODULES); do echo "check $$m"; (cd $$m && $(GO) vet ./... && $(GO) mod tidy -diff && \
	  { grep -q '^replace homeward' go.mod || $(GO) mod verify >/dev/null; }); done # what is replaced has no sum
	$(GO) tool staticcheck ./...
	$(GO) test -run '^TestHouse' ./testenv/house

# Packages run one after the other: those that measure lost replies would otherwise
# measure one another.
test: ## every test; no root, no Proxmox
	@set -e; for m in $(MODULES); do echo "test $$m"; (cd $$m && $(GO) vet ./... && $(GO) test -p 1 -timeout 20m ./...); done

test-vm: ## the namespace tests again on Debian's kernel in QEMU, with NICs, VLAN bridge, hot plug
	$(GO) run ./testenv/vm/fetch
	HOMEWARD_VM=1 $(GO) test -count=1 -timeout 40m ./testenv/vm

# One lab serves all packages, one after the other: some kill its database.
test-openstack: ## what talks to OpenStack, against Debian's Keystone and Neutron
	$(GO) run ./testenv/openstack/run -- $(GO) test -p 1 -count=1 -timeout 25m ./testenv/openstack/... ./agent/openstack/...

# The parts are built once, in forty minutes of processor time, and kept in the
# user's cache directory (HOMEWARD_KUBE_CACHE moves it).
e2e: build ## real Kubernetes and MetalLB in namespaces; root, containerd, runc, CNI plugins
	cd testenv/kube && $(GO) run ./parts/build
	cd testenv/kube && HOMEWARD_KUBE=1 $(GO) test -count=1 -timeout 25m -v .

bench: build ## plan and generate at 10 to 5,000 machines; inventories; the agent against the shell loop; a segment under flood; probe against known cuts
	$(GO) test -run '^$$' -bench . -benchmem ./netplan ./talosgen ./agent/segment ./agent/ledger/... ./agent/pvefs ./agent/proxmox ./cmd/homeward/...
	$(GO) run ./testenv/figures
	$(GO) test -run '^$$' -bench . -benchmem ./agent/probe

fuzz: ## each fuzz test for FUZZTIME (20s)
	@set -e; for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p; done; done

golden: ## rewrite the golden files; read the diff before you commit it
	$(GO) test $$(git grep -l 'Bool("update"' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') -update

clean: ## remove what was built and generated here
	rm -rf bin out
