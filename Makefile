# Rossum. Start with `make run`; `make test` runs everything CI does.

CARGO ?= cargo

.PHONY: run build test check doctor bench bench-soccer bench-osp bench-evo bench-oz bench-console bench-learn puppeteer test-clients clients python repeat soak chaos attacks compare-soccer console-pictures fuzz fuzz-campaign sanitize clean help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-17s %s\n", $$1, $$2 }'

run: setup puppet ## build, and serve the playground
	$(CARGO) run --release --bin rossum -- serve

build: setup ## build the program
	$(CARGO) build --release

test: setup browser toolchains check ## everything CI runs: the checks and all tests
	$(CARGO) test --workspace
	scripts/test-python --built

python: setup ## build the Python package and install it into target/python
	@scripts/python-package

check: setup ## stray files, format, lints, documentation, dependency audit
	scripts/check

doctor: setup ## check this machine's set-up
	$(CARGO) run --release --quiet --bin rossum -- doctor

bench: setup ## benchmark the simulation against bare mj_step
	$(CARGO) run --release --bin rossum -- bench

bench-soccer: setup ## benchmark the soccer server against the league's own
	reference=$$(scripts/fetch-python rcsssmj) && \
	  $(CARGO) run --release --bin rossum -- bench soccer --reference "$$reference"

bench-osp: setup ## benchmark OSP and ODCP against a bare UDP echo and bare physics
	$(CARGO) run --release --bin rossum -- bench osp

bench-evo: setup ## benchmark the evolving robots' arena against Enki and navground
	enki=$$(scripts/fetch-enki) && navground=$$(scripts/fetch-python navground) && \
	  $(CARGO) run --release --bin rossum -- bench evo --enki "$$enki" --navground "$$navground"

bench-oz: setup ## benchmark the puppet: speech, motion, video, faces, hearing
	recordings=$$(scripts/fetch-puppet voice hearing faces recordings | tail -n 1) && \
	  $(CARGO) run --release --bin rossum -- bench oz --recordings "$$recordings"

bench-console: setup browser ## benchmark the console: bundle size, traffic, cost of viewers, time to first view
	$(CARGO) run --release --bin rossum -- bench console && \
	  ROSSUM=target/release/rossum node console/bench/first-view.mjs

bench-learn: setup ## benchmark the learning environments against MuJoCo's own batches, EnvPool and Gymnasium
	python=$$(scripts/python-package) && envpool=$$(scripts/fetch-python envpool) && \
	  gymnasium=$$(scripts/fetch-python gymnasium) && \
	  "$$python" bench/learning/bench.py --envpool "$$envpool" --gymnasium "$$gymnasium"

puppeteer: setup ## run a scripted five-minute session with the puppet and account for every message
	ROSSUM_LONG=1 $(CARGO) test --package rossum --test oz_play -- a_play

test-clients: setup toolchains ## test the Oz clients in all languages, and print and update the table of the results
	ROSSUM_GENERATE=1 $(CARGO) test --package rossum --test clients -- --nocapture

clients: toolchains ## build the packages of the Oz clients into target/clients
	scripts/package-clients

repeat: setup ## repeat a game, OSP steps and an evolution N times (100) on a busy machine, and compare them to the bit
	ROSSUM_REPEAT=$(or $(N),100) $(CARGO) test --package rossum --test repeat -- --nocapture --test-threads 1

soak: setup ## serve every protocol for an hour under load, with hostile clients; MINUTES=5 for a shorter run
	$(CARGO) run --release --bin rossum -- soak --minutes $(or $(MINUTES),60)

chaos: setup ## kill, stop and starve a recording server, and cut its network; the recording has to verify
	scripts/chaos

attacks: setup ## measure what each kind of attack costs well-behaved clients
	$(CARGO) run --release --bin rossum -- soak --attacks $(or $(SECONDS),10)

compare-soccer: setup ## run one script against the league's server and ours, and compare their messages
	reference=$$(scripts/fetch-python rcsssmj) && \
	  ROSSUM_REFERENCE="$$reference" $(CARGO) test --package rossum --test compare_soccer -- --ignored --test-threads 1

console-pictures: setup browser ## take the screenshots in docs/console
	$(CARGO) build --package rossum
	scripts/console-pictures

fuzz: ## fuzz each decoder and session for a minute
	scripts/fuzz

fuzz-campaign: ## fuzz each decoder 100 million times, each session and file format a million times (hours)
	scripts/fuzz --campaign

.PHONY: setup puppet browser toolchains
setup:
	@scripts/fetch-mujoco >/dev/null

# the puppet's speech and face models; it runs without them, and the log and the Health page say what is missing
puppet:
	@scripts/fetch-puppet voice hearing faces >/dev/null || echo "Some of the puppet's models could not be fetched; it runs without them. See rossum doctor."

# Chromium for the console's browser tests, which are skipped without it
browser:
	@scripts/fetch-browser >/dev/null

# compilers and interpreters of the Oz clients; those that are missing are skipped, or installed in CI
toolchains:
	@scripts/fetch-toolchains

sanitize: setup ## run the tests of the crates with unsafe code under AddressSanitizer
	scripts/sanitize

clean: ## remove build outputs
	$(CARGO) clean
