PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin/python
COMPILE := uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links $(ARGS)
PIP_INSTALL := $(BIN) -m pip install --quiet --disable-pip-version-check --no-compile \
	--only-binary :all: --require-hashes

.DEFAULT_GOAL := help
.PHONY: help install lock

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(VENV)/test.stamp ## Install what the service and its tests need

lock: ## Lock requirements/*.in again with uv (ARGS=--upgrade for newer versions)
	$(COMPILE) requirements/base.in --output-file requirements/base.txt
	$(COMPILE) requirements/test.in --output-file requirements/test.txt

$(VENV)/base.stamp: requirements/base.txt
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) -r requirements/base.txt
	@touch $@

$(VENV)/test.stamp: $(VENV)/base.stamp requirements/test.txt
	@$(PIP_INSTALL) -r requirements/test.txt
	@touch $@
