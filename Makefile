# Rossum: everything a newcomer needs is `make run` and `make test`.

CARGO ?= cargo

.PHONY: run build test check doctor bench bench-soccer bench-osp bench-evo bench-oz bench-console puppeteer compare-soccer console-pictures fuzz clean help

help: ## show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-14s %s\n", $$1, $$2 }'

run: setup puppet ## build, and start the playground world
	$(CARGO) run --release --bin rossum -- serve

build: setup ## build the program
	$(CARGO) build --release

test: setup browser check ## everything that CI runs
	$(CARGO) test --workspace

check: setup ## format, lints, documentation, dependencies
	scripts/check

doctor: setup ## say what is present on this machine and what is missing
	$(CARGO) run --release --quiet --bin rossum -- doctor

bench: setup ## measure the simulation on this machine
	$(CARGO) run --release --bin rossum -- bench

bench-soccer: setup ## measure the soccer server beside the league's own
	reference=$$(scripts/fetch-python rcsssmj) && \
	  $(CARGO) run --release --bin rossum -- bench soccer --reference "$$reference"

bench-osp: setup ## measure OSP and ODCP beside a bare echo and bare physics
	$(CARGO) run --release --bin rossum -- bench osp

bench-evo: setup ## measure the world of the evolving robots beside Enki and navground
	enki=$$(scripts/fetch-enki) && navground=$$(scripts/fetch-python navground) && \
	  $(CARGO) run --release --bin rossum -- bench evo --enki "$$enki" --navground "$$navground"

bench-oz: setup ## measure the puppet of Oz: speech, motion, video, faces, hearing
	recordings=$$(scripts/fetch-puppet voice hearing faces recordings | tail -n 1) && \
	  $(CARGO) run --release --bin rossum -- bench oz --recordings "$$recordings"

bench-console: setup browser ## measure the console: its weight, what it sends, what those who look on cost, how soon one sees
	$(CARGO) run --release --bin rossum -- bench console && \
	  ROSSUM=target/release/rossum node console/bench/first-view.mjs

puppeteer: setup ## play a scripted session of five minutes with the puppet, and account for every message
	ROSSUM_LONG=1 $(CARGO) test --package rossum --test oz_play -- a_play

compare-soccer: setup ## let the league's server and ours play the same script, and compare what they say
	reference=$$(scripts/fetch-python rcsssmj) && \
	  ROSSUM_REFERENCE="$$reference" $(CARGO) test --package rossum --test compare_soccer -- --ignored --test-threads 1

console-pictures: setup browser ## make the pictures of the console in docs/console
	$(CARGO) build --package rossum
	scripts/console-pictures

fuzz: ## fuzz every decoder and session for a minute each
	scripts/fuzz

.PHONY: setup puppet browser
setup:
	@scripts/fetch-mujoco >/dev/null

# the puppet's voice, ears and eyes; without them it is silent, deaf or blind, and says so
puppet:
	@scripts/fetch-puppet voice hearing faces >/dev/null || echo "The puppet of Oz does without what could not be fetched."

# the browser tests' browser; without it they are skipped, and say so
browser:
	@scripts/fetch-browser >/dev/null

clean: ## remove what was built
	$(CARGO) clean
