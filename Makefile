PYTHON ?= python3
PYTHONS := 3.12 3.13 3.14
VENV := .venv
BIN := $(VENV)/bin/python
DEVELOPMENT := FULFILLMENT_MODE=development
TESTING := DJANGO_SETTINGS_MODULE=tests.settings
COMPILE := uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(ARGS)
PIP_INSTALL := $(BIN) -m pip install -qq --disable-pip-version-check --no-compile \
	--only-binary :all: --require-hashes
# Where the environment forbids compiled files, each of the many processes would compile Django and all else again.
export PYTHONDONTWRITEBYTECODE :=
# Many of these tests watch processes by the clock: one that fails beside another counts when it fails alone too. Half of
# them wait for processes, so three at a time keep two cores busy.
SLOW = $(BIN) -m pytest -m "slow and not looks"
# What two checks say at the same time stays apart; macOS has a make too old for it.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.DEFAULT_GOAL := help
.PHONY: help run test test-slow looks test-optional test-shop check lint style contracts types migrations schema messages clients bench soak mutants install lock wheels

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/base.stamp ## Start the service with demo data (PORT=8000 HOST=127.0.0.1)
	@$(DEVELOPMENT) exec $(BIN) manage.py up --end-with-parent

test: $(VENV)/test.stamp ## Check everything and run the tests (ARGS="tests/stores -x")
	@$(MAKE) --no-print-directory --jobs 2 $(TOGETHER) check
	@$(BIN) -m pytest -p no:schemathesis -n 2 --dist worksteal -m "not slow" $(ARGS)

test-slow: $(VENV)/test.stamp ## Run the tests that start processes or a browser, or wait
	@$(SLOW) -n 3 --dist worksteal $(ARGS) || { test $$? -eq 1 && echo "Again, one at a time:" && \
		$(SLOW) -n 0 -x --last-failed --last-failed-no-failures none $(ARGS); }

looks: $(VENV)/test.stamp ## Visit every page at each width and in both color schemes
	@LOOKS=all BROWSER_TESTS=required $(BIN) -m pytest -m slow -n 2 --dist worksteal tests/browser $(ARGS)

test-optional: $(VENV)/test.stamp ## Install the optional packages and run the tests that need them
	@$(PIP_INSTALL) --requirement requirements/optional.txt
	@$(BIN) -m pytest tests/fulfillment/core/observability/test_telemetry.py

test-shop: $(VENV)/test.stamp ## Let a real Medusa shop of npm order here (ARGS="--orders 200")
	@$(BIN) -m tests.shop $(ARGS)

check: types migrations lint

lint: style contracts ## Check style, security rules, formatting and import contracts

style: $(VENV)/test.stamp
	@$(BIN) -m ruff check --quiet .
	@$(BIN) -m ruff format --quiet --check .

contracts: $(VENV)/test.stamp
	@$(BIN) -c 'from importlinter.cli import lint_imports_command as run; run()' --no-logo

types: $(VENV)/test.stamp ## Check the types
	@$(BIN) -m mypy .

migrations: $(VENV)/test.stamp
	@$(TESTING) $(BIN) manage.py makemigrations --check --dry-run
	@$(TESTING) $(BIN) manage.py lintmigrations

schema: $(VENV)/test.stamp ## Write the OpenAPI schema anew
	@$(TESTING) $(BIN) manage.py spectacular --validate --fail-on-warn --file tests/openapi.yml

messages: $(VENV)/test.stamp ## Bring the catalogs of German and Spanish up to date
	@$(BIN) -m tests.tools.catalogs

clients: $(VENV)/test.stamp ## Build the client libraries from the schema (ARGS="--only python")
	@$(BIN) -m clients.build $(ARGS)

bench: $(VENV)/test.stamp ## Measure speed against simpler servers (ORDERS=2000000)
	@$(BIN) -m tests.benchmarks $(if $(ORDERS),--orders $(ORDERS)) $(ARGS)

soak: $(VENV)/test.stamp ## Keep the service under load and watch it (ARGS="--only neighbours")
	@$(BIN) -m tests.benchmarks.soak $(ARGS)

mutants: $(VENV)/test.stamp ## Change the code that decides access and prices, and see that tests notice
	@$(BIN) -m tests.benchmarks.mutation $(ARGS)

install: $(VENV)/test.stamp ## Install what the service and its tests need

lock: ## Lock requirements/*.in again with uv (ARGS=--upgrade for newer versions)
	$(COMPILE) requirements/base.in --output-file requirements/base.txt
	$(COMPILE) requirements/local.in --output-file requirements/local.txt
	$(COMPILE) requirements/test.in --output-file requirements/test.txt
	$(COMPILE) requirements/optional.in --output-file requirements/optional.txt

wheels: $(VENV)/base.stamp ## See that every lock has wheels for newer Pythons (PYTHONS="3.12 3.13 3.14")
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && for version in $(PYTHONS); do for lock in requirements/*.txt; do \
		$(BIN) -m pip download -qq --disable-pip-version-check --only-binary :all: --require-hashes --no-deps \
			--python-version $$version --dest "$$folder" -r $$lock || \
			{ echo "$$lock has no wheels for Python $$version" >&2; exit 1; }; \
	done; done

# Without a stamp the environment is made anew: an interrupted pip leaves halves it takes for whole. A stamp
# is void when the Python it was made with has gone.
$(shell test -x $(BIN) || rm -f $(VENV)/*.stamp)
$(VENV)/base.stamp: requirements/base.txt requirements/local.txt
	@command -v $(PYTHON) >/dev/null || \
		{ echo "There is no $(PYTHON); install Python 3.11 or newer, or name one: make run PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than Python 3.11; name a newer one: make run PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module; install it (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@test -w . || \
		{ echo "You may not write to $(CURDIR); use a clone in a folder of your own." >&2; exit 1; }
	@echo "Installing the requirements into $(VENV) (once, half a minute)"
	@$(PYTHON) -m venv $$(test -e $@ || echo --clear) $(VENV)
	@$(call install,requirements/base.txt requirements/local.txt)
	@$(call finish,$@)

$(VENV)/test.stamp: $(VENV)/base.stamp requirements/test.txt
	@echo "Installing the test requirements into $(VENV) (once, half a minute)"
	@$(call install,requirements/test.txt)
	@$(call finish,$@)

# Two at once, because pip uses one core. A lock names every package, so nothing is left to resolve. What two locks
# name is installed once.
HALVES := $(VENV)/half-
install = awk '/^[a-z0-9]/ { known = seen[$$1]++; half = !half } !known { print > ("$(HALVES)" half ".txt") }' $(1) && \
	{ $(PIP_INSTALL) --no-deps -r $(HALVES)0.txt & other=$$!; \
	$(PIP_INSTALL) --no-deps -r $(HALVES)1.txt; failed=$$?; wait $$other && exit $$failed; }

# Root leaves the environment to the owner of the checkout.
finish = touch $(1) && if [ "$$(id -u)" = 0 ]; then chown -R "$$(ls -nd . | awk '{ print $$3 ":" $$4 }')" $(VENV); fi
