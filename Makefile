# Rossum: everything a newcomer needs is `make run` and `make test`.

CARGO ?= cargo

.PHONY: run build test check doctor bench fuzz clean help

help: ## show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-8s %s\n", $$1, $$2 }'

run: setup ## build, and start the playground world
	$(CARGO) run --release --bin rossum -- serve

build: setup ## build the program
	$(CARGO) build --release

test: setup check ## everything that CI runs
	$(CARGO) test --workspace

check: setup ## format, lints, documentation, dependencies
	scripts/check

doctor: setup ## say what is present on this machine and what is missing
	$(CARGO) run --release --quiet --bin rossum -- doctor

bench: setup ## measure the simulation on this machine
	$(CARGO) run --release --bin rossum -- bench

fuzz: ## fuzz every decoder and session for a minute each
	scripts/fuzz

.PHONY: setup
setup:
	@scripts/fetch-mujoco >/dev/null

clean: ## remove what was built
	$(CARGO) clean
