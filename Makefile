# `make` alone lists the targets. Set-up lives in .venv; each step of it that is whole has a stamp file there.

VENV := .venv
PYTHON := $(VENV)/bin/python
RUN_STAMP := $(VENV)/.run-stamp
DEV_STAMP := $(VENV)/.dev-stamp
RUNTIMES_STAMP := $(VENV)/.runtimes-stamp
LIMIT_STAMP := $(VENV)/.limit-stamp
NATIVE_STAMP := $(VENV)/.native-stamp

# Who may carry .venv, first choice first: `make setup BASE_PYTHON=/opt/python/bin/python3.12` names another.
# 3.15 is out of bounds because the pinned packages have no wheels for it. It can still be measured.
BASE_PYTHON ?= python3.14 python3.13 python3.12 python3.11 python3

# A run and the tests start hundreds of processes, which would each compile the same files again.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help setup run record test golden coverage mutants campaign lint check bench report messages native native-test native-peers native-libraries browser ssh-server databases pins clean look-again

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' Makefile
	@echo "ARGS is passed on:  make run ARGS='--blocks 1'   make test ARGS='-k wire'"

setup: $(RUN_STAMP) $(RUNTIMES_STAMP) ## Make .venv, look for runtimes, make an environment for each

run: $(RUNTIMES_STAMP) ## Run the quick experiment
	@$(PYTHON) runner.py --experiment quick $(ARGS)

record: $(RUNTIMES_STAMP) $(LIMIT_STAMP) ## Run the seed's whole set of cells: 20 x 20 x 1000, takes long
	@$(PYTHON) runner.py --experiment record $(ARGS)

test: $(DEV_STAMP) $(RUNTIMES_STAMP) $(NATIVE_STAMP) ## Build the native programs and run the tests
	@all=0 alone=0; \
	$(PYTHON) -m pytest -n 4 --dist worksteal -m 'not alone' --junitxml=$(VENV)/durations.xml $(ARGS) || all=$$?; \
	$(PYTHON) -m pytest -m alone --junitxml=$(VENV)/durations-alone.xml $(ARGS) || alone=$$?; \
	case $$all,$$alone in 0,0 | 0,5 | 5,0) ;; *) exit 1 ;; esac  # 5: no test was selected

golden: $(DEV_STAMP) ## Keep what page, Markdown, terminal and exports are now for tests/golden; make the tables of docs/result.md
	@GOLDEN=update $(PYTHON) -m pytest -q tests/golden tests/docs/test_result_page.py $(ARGS)

coverage: $(DEV_STAMP) $(RUNTIMES_STAMP) $(NATIVE_STAMP) ## Run the tests under branch coverage, a context for each: docs/reliability.md
	@rm -rf $(STRENGTH) && mkdir -p $(STRENGTH)
	@$(strength) COVERAGE_PROCESS_START=$(CURDIR)/$(strength_file) $(PYTHON) -m pytest -p tests.strength.contexts -n 2 \
		--dist worksteal --junitxml=$(STRENGTH)/tests.xml $(ARGS) || echo 'coverage: going on, although tests failed'
	@$(strength) $(PYTHON) -m coverage combine -q --rcfile $(strength_file)
	@$(strength) $(PYTHON) -m coverage report --rcfile $(strength_file) --format total

mutants: $(DEV_STAMP) ## Play 300 mutants against the tests that cover them, after make coverage; goes on where it was stopped
	@$(PYTHON) -m tests.strength.mutants --data $(STRENGTH)/coverage --junit $(STRENGTH)/tests.xml $(ARGS)

STRENGTH := $(CURDIR)/$(VENV)/strength
strength = STRENGTH_DATA=$(STRENGTH) STRENGTH_ROOT=$(CURDIR)
strength_file := tests/strength/coverage.ini

campaign: $(DEV_STAMP) $(RUNTIMES_STAMP) $(NATIVE_STAMP) ## Try to break it: docs/reliability.md; CAMPAIGN_SEED=N again
	@seed=$${CAMPAIGN_SEED:-$$(date +%s)}; echo "CAMPAIGN_SEED=$$seed"; \
	CAMPAIGN=1 CAMPAIGN_SEED=$$seed $(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -o faulthandler_timeout=2400 \
		$(attacks) $(ARGS)

# The one that takes half an hour first; two at a time.
attacks := tests/campaign/test_soak.py $(filter-out %/test_soak.py,$(wildcard tests/campaign/test_*.py))

lint: $(DEV_STAMP) ## Check format, rules and types: ruff, mypy strict
	@echo 'lint: ruff format'; $(PYTHON) -m ruff format --check .
	@echo 'lint: ruff check';  $(PYTHON) -m ruff check .
	@echo 'lint: mypy';        $(PYTHON) -m mypy
	@echo 'lint: budget';      $(PYTHON) -m tests.budget

check: lint test ## Run lint and test

bench: $(RUNTIMES_STAMP) ## Measure the speed of our own parts
	@$(PYTHON) -m benchmarks.parts $(ARGS)
	@$(PYTHON) -m benchmarks.start_up $(ARGS)

report: $(RUN_STAMP) ## Write a saved run's report again: make report RUN=reports/out/...
	@$(PYTHON) runner.py report $(RUN) $(ARGS)

messages: $(DEV_STAMP) ## Collect messages from the code into core/locale/*.po, for translators
	@$(babel) extract -F pyproject.toml $(keywords) --no-location --omit-header --sort-output -w 120 -o $(VENV)/messages.pot $(speaking)
	@for catalog in core/locale/*.po; do $(babel) update -i $(VENV)/messages.pot -o $$catalog -w 120 \
		-l $$(basename $$catalog .po) --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date; done
	@rm $(VENV)/messages.pot

native: $(RUN_STAMP) ## Build native programs and extensions; says what a missing toolchain keeps away
	@$(PYTHON) runner.py native $(ARGS)

native-test: ## Run the unit tests of the Rust programs, which are also part of make test
	@cd native && cargo test --quiet --profile $${CARGO_TEST_PROFILE:-dev}

native-peers: ## Install the load generators that the experiment loadgen compares ours with
	@sh native/peers.sh

native-libraries: ## Install what the C and C++ programs need from the system's packages
	@sh native/libraries.sh

browser: ## Install the Chromium that the tests of report.html need
	@sh tests/browser/install.sh

ssh-server: ## Install the OpenSSH server that the tests of several hosts need
	@[ -x /usr/sbin/sshd ] && command -v ip >/dev/null || \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y openssh-server iproute2; } >/dev/null

databases: ## Install the databases that the tests of what stands beside a service need
	@command -v redis-server >/dev/null && command -v psql >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y postgresql redis-server; } >/dev/null

pins: $(RUN_STAMP) ## Write requirements*.txt and requirements/*.txt from pyproject.toml and *.in; newer versions: make pins ARGS=--upgrade
	@$(compile) pyproject.toml -o requirements.txt
	@for one in requirements/*.in; do $(compile) --no-annotate --emit-build-options $$one -o $${one%.in}.txt; done
	@$(compile) requirements-dev.in -o requirements-dev.txt

clean: ## Remove .venv, .runtimes, native programs and caches; saved runs in reports/out stay
	@rm -rf native/bin native/build native/target native/wheels native/*/target native/echo/*/target
	@rm -rf $(VENV) .runtimes .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -path ./.git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# ---- set-up -------------------------------------------------------------------------------------------------

# A .venv whose interpreter is gone is no .venv.
$(shell [ -x $(PYTHON) ] || rm -f $(RUN_STAMP))

$(RUN_STAMP): requirements.txt
	@$(alone); if $(fresh); then exit 0; fi; \
	[ -e $@ ] || { rm -rf $(VENV); $(new_venv); }; \
	echo 'set-up: packages'; $(call install,-r requirements.txt); touch $@

$(DEV_STAMP): requirements-dev.txt $(RUN_STAMP)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: packages for tests and checks'; $(call install,-r requirements.txt -r requirements-dev.txt); touch $@

# An explicit `make setup` looks again, for a runtime that was installed since.
$(RUNTIMES_STAMP): requirements/tornado.txt $(RUN_STAMP) $(if $(filter setup,$(MAKECMDGOALS)),look-again)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: runtimes'; $(PYTHON) runner.py setup; touch $@

# The sources of native programs. What cannot be built is named with the reason and the rest goes on, also where a
# toolchain is there and cannot be used (no network, too old): a report has no such row. `make native` tries again.
native_sources := $(shell find native -type f -not -path '*/target/*' -not -path '*/build/*' -not -path 'native/bin/*' \
	-not -path 'native/wheels/*' -not -name Cargo.lock 2>/dev/null)

$(LIMIT_STAMP): $(native_sources) $(RUN_STAMP)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: the native limit'; $(PYTHON) runner.py native loadgen calc-service || $(go_on); touch $@

$(NATIVE_STAMP): $(native_sources) $(RUNTIMES_STAMP)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: native programs'; $(PYTHON) runner.py native || $(go_on); \
	if command -v cargo >/dev/null; then (cd native && cargo test --quiet --profile $${CARGO_TEST_PROFILE:-dev} --no-run) >/dev/null 2>&1 || $(go_on); fi; \
	touch $@ $(LIMIT_STAMP)

go_on = echo 'set-up: going on without what could not be built; once that is mended: make native'

# What a message is declared by, and where (core/messages.py, core/errors.py).
babel := $(PYTHON) -m babel.messages.frontend -q
keywords := -k message -k plural:1,2 $(addprefix -k ,GilscopeError BadInput BesideFailed ChildFailed CommandFailed PortLost ProgramMissing NotEnoughMemory \
	EnvironmentFailed LinkLost LocksFailed NotProfiled ProfileFailed WheelMissing)
speaking := core systems services clients experiments config lab reports commands runner.py

# Begins a recipe: stop at the first failure, and one set-up at a time, also when two makes start together
# (not where flock is missing, as on macOS). The lock goes when the recipe's processes end, however they end.
alone = set -e; trap 'exit 130' INT TERM; exec 9<Makefile; \
	! command -v flock >/dev/null || flock -n 9 || { echo 'set-up: waiting for the one under way'; flock 9; }

# Whether the make that held the lock before has done this step already.
fresh = [ -e $@ ] && [ -z "$$(find $^ -newer $@ 2>&1)" ]

# Asked of each candidate by running it: pyenv's shims stand on PATH also for versions that are switched off.
# The answer is the real path, because a 3.11 environment made from a symbolic link may find another's library.
probe = sys.exit(1) if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info < (3, 15) \
	or sysconfig.get_config_var("Py_GIL_DISABLED") else print(os.path.realpath(sys.executable))

define new_venv
if uv --version >/dev/null 2>&1; then tool=uv needs=venv; else tool=venv needs=ensurepip,ssl,venv; fi; \
	for name in $(BASE_PYTHON); do \
		base=$$("$$name" -c "import os, sys, sysconfig, $$needs"'; $(probe)' 2>/dev/null) && break || base=; \
	done; \
	if [ $$tool = uv ]; then \
		echo "set-up: $(VENV) by uv, from $${base:-a Python 3.14 that uv finds or downloads}"; \
		uv venv -q --python "$${base:-3.14+gil}" $(VENV); \
	elif [ -n "$$base" ]; then \
		echo "set-up: $(VENV) from $$base"; "$$base" -m venv $(VENV); \
	else \
		echo 'set-up: no Python found. It needs uv on PATH, or a Python 3.11 to 3.14 with GIL, ssl and venv;' \
			'tried: $(BASE_PYTHON).' >&2; exit 1; \
	fi
endef

# The first stamp is away while packages are installed: a set-up that is killed begins from nothing the next time,
# one that fails (no network, say) leaves what was there in use. uv from PATH goes on, else the pinned uv, which pip installs.
define install
status=; ! [ -e $(RUN_STAMP) ] || mv $(RUN_STAMP) $(RUN_STAMP).held; \
	PATH="$(VENV)/bin:$$PATH"; uv --version >/dev/null 2>&1 || { \
		awk '/^uv==/ { on = 1 } on { print } on && !/\\$$/ { exit }' requirements.txt >$(VENV)/uv.txt; \
		$(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes -r $(VENV)/uv.txt; }; \
	{ if uv --version >/dev/null 2>&1; \
	then uv pip install -q --python $(PYTHON) --require-hashes $(1); \
	else $(PYTHON) -m pip install -q --disable-pip-version-check --require-hashes $(1); fi; } || status=$$?; \
	! [ -e $(RUN_STAMP).held ] || mv $(RUN_STAMP).held $(RUN_STAMP); \
	[ -z "$$status" ] || exit 1
endef

# One version for every Python (fewest forks), so that figures and type checks mean the same under each.
compile = UV_CUSTOM_COMPILE_COMMAND='make pins' $(VENV)/bin/uv pip compile -q --universal --python-version 3.11 \
	--generate-hashes --fork-strategy fewest $(ARGS)
