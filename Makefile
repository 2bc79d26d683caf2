# `make` without a target lists the targets. Set-up uses .venv, where each finished step leaves a stamp file.

VENV := .venv
PYTHON := $(VENV)/bin/python
RUN_STAMP := $(VENV)/.run-stamp
DEV_STAMP := $(VENV)/.dev-stamp
RUNTIMES_STAMP := $(VENV)/.runtimes-stamp
LIMIT_STAMP := $(VENV)/.limit-stamp
NATIVE_STAMP := $(VENV)/.native-stamp

# Interpreters for .venv, in order of preference. `make setup BASE_PYTHON=/opt/python/bin/python3.12` names another.
# 3.15 is not accepted, because the pinned packages have no wheels for it. It can still be measured.
BASE_PYTHON ?= python3.14 python3.13 python3.12 python3.11 python3

# Keep compiled files, because a run and the tests start hundreds of processes that need them.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.SUFFIXES:
.PHONY: help setup run record test golden coverage mutants campaign lint check bench report messages native native-test native-peers native-libraries browser ssh-server databases pins clean look-again

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' Makefile
	@echo "ARGS passes arguments to a target:  make run ARGS='--blocks 1'   make test ARGS='-k wire'"

setup: $(RUN_STAMP) $(RUNTIMES_STAMP) ## Create .venv, find runtimes, and create an environment for each runtime

run: $(RUNTIMES_STAMP) ## Run the quick experiment
	@$(PYTHON) runner.py --experiment quick $(ARGS)

record: $(RUNTIMES_STAMP) $(LIMIT_STAMP) ## Repeat all cells of the original experiment (20 x 20 x 1000); takes hours
	@$(PYTHON) runner.py --experiment record $(ARGS)

test: $(DEV_STAMP) $(RUNTIMES_STAMP) $(NATIVE_STAMP) ## Build the native programs and run the tests
	@all=0 alone=0; \
	$(PYTHON) -m pytest -n 4 --dist worksteal -m 'not alone' --junitxml=$(VENV)/durations.xml $(ARGS) || all=$$?; \
	$(PYTHON) -m pytest -m alone --junitxml=$(VENV)/durations-alone.xml $(ARGS) || alone=$$?; \
	case $$all,$$alone in 0,0 | 0,5 | 5,0) ;; *) exit 1 ;; esac  # 5: no test was selected

golden: $(DEV_STAMP) ## Update the expected outputs in tests/golden, and the tables of docs/ that are made from the code
	@GOLDEN=update $(PYTHON) -m pytest -q tests/golden tests/docs/test_result_page.py tests/docs/test_tables.py \
		tests/docs/test_measure_your_service.py::test_the_written_plan_without_its_comments_is_the_one_on_the_page $(ARGS)

coverage: $(DEV_STAMP) $(RUNTIMES_STAMP) $(NATIVE_STAMP) ## Run the tests with branch coverage per test (docs/reliability.md)
	@rm -rf $(STRENGTH) && mkdir -p $(STRENGTH)
	@$(strength) COVERAGE_PROCESS_START=$(CURDIR)/$(strength_file) $(PYTHON) -m pytest -p tests.strength.contexts -n 2 \
		--dist worksteal --junitxml=$(STRENGTH)/tests.xml $(ARGS) || echo 'coverage: tests failed, but coverage is reported anyway'
	@$(strength) $(PYTHON) -m coverage combine -q --rcfile $(strength_file)
	@$(strength) $(PYTHON) -m coverage report --rcfile $(strength_file) --format total

mutants: $(DEV_STAMP) ## Run 300 mutation tests after make coverage; a stopped run is continued
	@$(PYTHON) -m tests.strength.mutants --data $(STRENGTH)/coverage --junit $(STRENGTH)/tests.xml $(ARGS)

STRENGTH := $(CURDIR)/$(VENV)/strength
strength = STRENGTH_DATA=$(STRENGTH) STRENGTH_ROOT=$(CURDIR)
strength_file := tests/strength/coverage.ini

campaign: $(DEV_STAMP) $(RUNTIMES_STAMP) $(NATIVE_STAMP) ## Run the stress and fault campaign (docs/reliability.md); CAMPAIGN_SEED=N repeats one
	@seed=$${CAMPAIGN_SEED:-$$(date +%s)}; echo "CAMPAIGN_SEED=$$seed"; status=0; \
	CAMPAIGN=1 CAMPAIGN_SEED=$$seed $(PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder -o faulthandler_timeout=2400 \
		$(attacks) $(ARGS) || status=1; \
	[ -n "$(strip $(ARGS))" ] || $(PYTHON) -m benchmarks.known_answers || status=1; exit $$status

# The test that takes half an hour starts first. Two tests run at a time.
attacks := tests/campaign/test_soak.py $(filter-out %/test_soak.py,$(wildcard tests/campaign/test_*.py))

lint: $(DEV_STAMP) ## Check format, lint rules, types and token budget: ruff, mypy
	@echo 'lint: ruff format'; $(PYTHON) -m ruff format --check .
	@echo 'lint: ruff check';  $(PYTHON) -m ruff check .
	@echo 'lint: mypy';        $(PYTHON) -m mypy
	@echo 'lint: budget';      $(PYTHON) -m tests.budget

check: lint test ## Run lint and test

bench: $(RUNTIMES_STAMP) ## Benchmark gilscope's own code
	@$(PYTHON) -m benchmarks.parts $(ARGS)
	@$(PYTHON) -m benchmarks.parts --start-up $(ARGS)

report: $(RUN_STAMP) ## Write the report of a saved run again: make report RUN=reports/out/...
	@$(PYTHON) runner.py report $(RUN) $(ARGS)

messages: $(DEV_STAMP) ## Update core/locale/*.po with the messages in the code
	@$(babel) extract -F pyproject.toml $(keywords) --no-location --omit-header --sort-output -w 120 -o $(VENV)/messages.pot $(speaking)
	@for catalog in core/locale/*.po; do $(babel) update -i $(VENV)/messages.pot -o $$catalog -w 120 \
		-l $$(basename $$catalog .po) --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date; done
	@rm $(VENV)/messages.pot

native: $(RUN_STAMP) ## Build the native programs and extensions, and print what each missing toolchain prevents
	@$(PYTHON) runner.py native $(ARGS)

native-test: ## Run the unit tests of the Rust programs (also part of make test)
	@cd native && cargo test --quiet --profile $${CARGO_TEST_PROFILE:-dev}

native-peers: ## Install the load generators of the experiment loadgen
	@sh native/peers.sh

native-libraries: ## Install the system packages for the C and C++ programs
	@sh native/libraries.sh

browser: ## Install Chromium for the tests of report.html
	@sh tests/browser/install.sh

ssh-server: ## Install an OpenSSH server for the tests of several hosts
	@[ -x /usr/sbin/sshd ] && command -v ip >/dev/null || \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y openssh-server iproute2; } >/dev/null

databases: ## Install the databases that the tests of what stands beside a service need
	@command -v redis-server >/dev/null && command -v psql >/dev/null && ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
		{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y postgresql redis-server; } >/dev/null

pins: $(RUN_STAMP) ## Write requirements*.txt and requirements/*.txt; ARGS=--upgrade for newer versions
	@$(compile) pyproject.toml -o requirements.txt
	@for one in requirements/*.in; do $(compile) --no-annotate --emit-build-options $$one -o $${one%.in}.txt; done
	@$(compile) requirements-dev.in -o requirements-dev.txt

clean: ## Remove .venv, .runtimes, native programs and caches, but keep the runs in reports/out
	@rm -rf native/bin native/build native/target native/wheels native/*/target native/echo/*/target
	@rm -rf $(VENV) .runtimes .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -path ./.git -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# ---- set-up -------------------------------------------------------------------------------------------------

# If the interpreter of .venv is gone, create .venv again.
$(shell [ -x $(PYTHON) ] || rm -f $(RUN_STAMP))

$(RUN_STAMP): requirements.txt
	@$(alone); if $(fresh); then exit 0; fi; \
	[ -e $@ ] || { rm -rf $(VENV); $(new_venv); }; \
	echo 'set-up: packages'; $(call install,-r requirements.txt); touch $@

$(DEV_STAMP): requirements-dev.txt $(RUN_STAMP)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: packages for tests and checks'; $(call install,-r requirements.txt -r requirements-dev.txt); touch $@

# An explicit `make setup` searches again, because a runtime may have been installed since.
$(RUNTIMES_STAMP): requirements/tornado.txt $(RUN_STAMP) $(if $(filter setup,$(MAKECMDGOALS)),look-again)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: runtimes'; $(PYTHON) runner.py setup; touch $@

# The sources of native programs. If a program cannot be built, the reason is printed and the rest is built, even if
# a toolchain is installed but unusable (no network, too old). Reports then have no row for it. `make native` retries.
native_sources := $(shell find native -type f -not -path '*/target/*' -not -path '*/build/*' -not -path 'native/bin/*' \
	-not -path 'native/wheels/*' -not -name Cargo.lock 2>/dev/null)

$(LIMIT_STAMP): $(native_sources) $(RUN_STAMP)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: native load generator and service'; $(PYTHON) runner.py native loadgen calc-service || $(go_on); touch $@

$(NATIVE_STAMP): $(native_sources) $(RUNTIMES_STAMP)
	@$(alone); if $(fresh); then exit 0; fi; \
	echo 'set-up: native programs'; $(PYTHON) runner.py native || $(go_on); \
	if command -v cargo >/dev/null; then (cd native && cargo test --quiet --profile $${CARGO_TEST_PROFILE:-dev} --no-run) >/dev/null 2>&1 || $(go_on); fi; \
	touch $@ $(LIMIT_STAMP)

go_on = echo 'set-up: continuing without the programs that could not be built; to try again: make native'

# The functions and classes that declare messages, with the number of the argument that is the text, and the folders
# that use them.
babel := $(PYTHON) -m babel.messages.frontend -q
keywords := -k message -k plural:1,2 -k col -k Option:2 -k _whole:2 -k _claim:2 -k _choice:2 -k add_group -k add_names:2 -k wrong \
	-k items:2 -k percent:2 -k matching:2 -k Cost:2 -k note -k print_line \
	$(addprefix -k ,GilscopeError BadInput BesideFailed ChildFailed CommandFailed PortLost NotEnoughMemory \
	EnvironmentFailed HostLost)
speaking := core systems services clients experiments config record analysis lab reports commands runner.py

# The start of a recipe: stop at the first failure, and wait for other set-ups, even if two makes start together.
# Without flock, as on macOS, there is no lock. The lock is released when the processes of the recipe end.
alone = set -e; trap 'exit 130' INT TERM; exec 9<Makefile; \
	! command -v flock >/dev/null || flock -n 9 || { echo 'set-up: waiting for another set-up to finish'; flock 9; }

# Whether another make has finished this step while this make waited for the lock.
fresh = [ -e $@ ] && [ -z "$$(find $^ -newer $@ 2>&1)" ]

# Each candidate is run, because pyenv's shims are on PATH even for versions that are switched off.
# The probe prints the real path, because a 3.11 environment made from a symbolic link may find a wrong library.
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
		echo 'set-up: no Python was found. Install uv, or a default (GIL) build of Python 3.11 to 3.14 with ssl and venv.' \
			'Tried: $(BASE_PYTHON).' >&2; exit 1; \
	fi
endef

# The first stamp is moved away while packages are installed. If set-up is killed, the next set-up starts from nothing.
# If set-up fails (no network), the previous packages stay in use. uv from PATH is used, or else the pinned uv from pip.
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

# One version of each package for all Pythons, so that results and type checks are the same under each Python.
compile = UV_CUSTOM_COMPILE_COMMAND='make pins' $(VENV)/bin/uv pip compile -q --universal --python-version 3.11 \
	--generate-hashes --fork-strategy fewest $(ARGS)
