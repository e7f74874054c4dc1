# `make help` lists the targets. Everything is installed into .venv; state of `make run` lives in .dynabench.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
PLUGINS := $(sort $(wildcard plugins/*))
# One run of two processes: tests/conftest.py says which tests stay together and which begin.
define tests
	$(BIN)/python scripts/programs.py
	$(BIN)/python -m pytest -m $(1) -n 2 --dist loadgroup --no-loadscope-reorder --timeout 900
endef
export DYNABENCH_HOME ?= $(CURDIR)/.dynabench
export OMP_WAIT_POLICY := passive
# Hundreds of processes import the same modules; where the environment forbids to keep them compiled, each compiles anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install run test test-slow test-release check bench docs screenshots languages lock sbom migration coverage crash chaos flood replay fuzz simulate soak clean hub-compatibility

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  \033[1m%-13s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(VENV)/.test ## Make the whole environment with all extras and plug-ins in .venv; start nothing

run: $(VENV)/.run ## Install everything needed and serve the demo rounds at http://127.0.0.1:8000
	$(BIN)/dynabench serve --demo --port $(PORT)

test: $(VENV)/.test ## Run the tests, on SQLite and PostgreSQL and in a real browser
ifdef ARGS
	$(BIN)/python scripts/programs.py
	$(BIN)/python -m pytest $(ARGS)
else
	$(call tests,"not slow and not release")
endif

test-slow: $(VENV)/.test ## Run the slow tests: every role on every route, killed processes, whole platforms, journeys in the browser
	$(call tests,"slow and not release")

test-release: $(VENV)/.test ## Run the tests before a release: training, exports, packaging, clusters, crashes, fuzzing, coverage, replay
	$(call tests,release)

check: $(VENV)/.test ## Lint, names, literal roles and states, types, import rules, templates
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python scripts/names.py
	$(BIN)/python scripts/literals.py
	$(BIN)/python scripts/disclosure_lint.py
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/djlint --lint --quiet src

bench: $(VENV)/.test ## Print every performance figure beside its anchor
	$(BIN)/python -m benchmarks

hub-compatibility: $(VENV)/.test ## Run the tests of huggingface_hub in the folder SOURCES against a platform
	$(BIN)/python scripts/hub_compatibility.py $(SOURCES) $(ARGS)

crash: $(VENV)/.test ## Kill each process at 50 random moments under load, and workers within turns of the cycle
	$(BIN)/python -m pytest tests/crash tests/cycle/test_kill.py --crashes 50 $(ARGS)

chaos: $(VENV)/.test ## Queue 200 evaluations and kill the worker for ten minutes: all end, each shard once
	$(BIN)/python scripts/chaos.py $(ARGS)

replay: $(VENV)/.test ## Play all of ANLI's development rows and votes through the API and compare the figures
	$(BIN)/python -m pytest tests/replay --replay-all $(ARGS)

flood: $(VENV)/.test ## Flood a platform with 2,000 anonymous connections and bodies of every kind, and time a bystander
	$(BIN)/python scripts/flood.py $(ARGS)

coverage: $(VENV)/.test ## Draw 2,000 samples for each of four metrics and count the intervals that hold the truth
	$(BIN)/python -m pytest tests/coverage --draws 2000 $(ARGS)

fuzz: $(VENV)/.test ## Play 1,000 random task configs to the end, and break 1,000 others
	$(BIN)/python -m pytest tests/fuzz --configs 1000 $(ARGS)

simulate: $(VENV)/.test ## Simulate twenty rounds without people for both tasks: make simulate DATA=folder/of/data/sets
	$(BIN)/python -m experiments.simulation nli sentiment --data $(DATA) --folder $(DYNABENCH_HOME)/simulation --seeds 6 --report docs/explanation/simulation.md $(ARGS)

soak: $(VENV)/.test ## Let eight people write for 20 minutes while models die, hang and return invalid answers
	$(BIN)/python scripts/soak.py --minutes 20 $(ARGS)

docs: $(VENV)/.test ## Build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

screenshots: $(VENV)/.test ## Take screenshots of every page into screenshots/ and renew the six pictures of the README
	$(BIN)/python scripts/programs.py
	$(BIN)/python scripts/screenshots.py

languages: $(VENV)/.test ## Add new texts to the catalogues of src/dynabench/locale and list missing translations
	$(BIN)/python scripts/languages.py update
	$(BIN)/python scripts/languages.py check

lock: ## Write requirements/*.txt from the versions in .venv
	$(BIN)/python scripts/lock.py

# Its tool has an environment of its own, so that it is no part of what it lists.
sbom: $(VENV)/.run ## List every package and model of `make run` with versions and licences into sbom/ (CycloneDX)
	test -x .sbom/bin/cyclonedx-py || $(PYTHON) -m venv .sbom
	.sbom/bin/python -m pip install --quiet cyclonedx-bom==7.5.0
	$(BIN)/python scripts/sbom.py .sbom/bin/cyclonedx-py $(BIN)/python sbom

migration: $(VENV)/.test ## Write a migration for changed tables: make migration NAME="what changes"
	$(BIN)/python -m dynabench.operations.migrations "$(NAME)"

clean: ## Remove the environment, build outputs and the state of `make run`
	rm -rf $(VENV) .sbom sbom build dist site screenshots .dynabench src/dynabench/web/static/vendor

# torch goes first and with its own dependencies, so that pip may choose the build that fits the machine.
$(VENV)/.run: requirements/run.txt pyproject.toml hatch_build.py frontend/package-lock.json
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Dynabench needs Python 3.11 or newer; try: make PYTHON=python3.12 run")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $$(grep '^torch==' requirements/run.txt)
	$(BIN)/python -m pip install --quiet --no-deps -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.test: $(VENV)/.run requirements/test.txt $(PLUGINS:%=%/pyproject.toml)
	$(BIN)/python -m pip install --quiet --no-deps -r requirements/test.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation $(PLUGINS:%=-e %)
	touch $@
