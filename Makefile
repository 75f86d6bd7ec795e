# Every command creates what it needs; nothing has to be installed by hand but Python 3.11+ and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The peers live in an environment of their own: diffprivlib works with no scikit-learn above 1.7.2.
PEERS := .venv-peers
PEERS_READY := $(PEERS)/.ready
DATA ?= $(EQUIPOISE_DATA)

# The fuzzer is installed beside the environment: it is built for Linux on x86-64 only, and nothing else needs it.
FUZZER := .fuzzer
FUZZER_READY := $(FUZZER)/.ready
INPUTS ?= 1000000

# So is Spark: an archive of 430 MB that takes two minutes to install. Its tests skip where it is missing.
SPARK := .spark
SPARK_READY := $(SPARK)/.ready

# What draws the documentation site; its pages run the library, so it stands beside the development environment.
HANDBOOK := .handbook
HANDBOOK_READY := $(HANDBOOK)/.ready

# And what users come from, with the scikit-learn that it works with, for the page about moving.
FORMER := .diffprivlib
FORMER_READY := $(FORMER)/.ready

# What tests look at pages with; their tests skip where npm could not install it.
AXE_READY := tests/accessibility/.ready

.PHONY: help demo test check lint types imports unit statistics fuzz proofs docs gallery house bench bench-page dist image lock clean

help:  ## show the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/'

$(READY): pyproject.toml studies/pyproject.toml requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit("Equipoise needs Python 3.11 or newer, found " + sys.version.split()[0] + ": make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable . --editable studies
	@touch $(READY)

demo: $(READY)  ## train private models on public data and open the page it writes
	$(BIN)/equipoise demo

test: check  ## everything a change must pass: lint, types, import rules, doctests, tests
check: lint types imports unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

# A file stays with one worker, so that what its tests share is made once.
unit: $(READY)
	PYTHONPATH=$(SPARK) $(BIN)/pytest -m "not statistics" -n 2 --dist loadfile --durations=10

statistics: $(READY) $(SPARK_READY) $(FUZZER_READY)  ## the slow lane: more samples, more cases, fresh seeds; within an hour on two cores
	PYTHONPATH=$(SPARK):$(FUZZER):.:tests $(BIN)/pytest -m "statistics or hypothesis" -n 2 --durations=10

$(SPARK_READY): tests/requirements-spark.lock $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --require-hashes --target $(SPARK) -r tests/requirements-spark.lock
	@touch $(SPARK_READY)

$(FUZZER_READY): fuzz/requirements.lock $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --require-hashes --target $(FUZZER) -r fuzz/requirements.lock
	@touch $(FUZZER_READY)

fuzz: $(READY) $(FUZZER_READY)  ## hostile input for every reader, 10^6 in all, about 40 minutes: make fuzz INPUTS=100000
	PYTHONPATH=$(FUZZER):.:tests OPENBLAS_NUM_THREADS=1 nice -n 10 $(BIN)/python -m fuzz.run --inputs $(INPUTS)

$(AXE_READY): tests/accessibility/package-lock.json
	cd tests/accessibility && npm ci --silent --no-audit --no-fund
	@touch $(AXE_READY)

proofs:  ## have Coq check the theorems of docs/machine-checked.md, about three minutes (Debian: coq, libcoq-mathcomp-analysis, libcoq-flocq, libcoq-coquelicot)
	timeout 600 proofs/check

$(HANDBOOK_READY): handbook/requirements.lock $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --require-hashes --target $(HANDBOOK) -r handbook/requirements.lock
	@touch $(HANDBOOK_READY)

$(FORMER_READY): handbook/requirements-diffprivlib.lock $(READY)
	$(BIN)/python -m pip install --quiet --no-deps --upgrade --require-hashes --target $(FORMER) -r handbook/requirements-diffprivlib.lock
	@touch $(FORMER_READY)

docs: $(READY) $(HANDBOOK_READY) $(FORMER_READY)  ## build the documentation site, every example run: build/handbook/html/index.html
	PYTHONPATH=$(HANDBOOK):.:tests PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m handbook.build $(AFTER)
	$(BIN)/pytest -q tests/handbook/test_site.py

gallery: $(READY)  ## run the twelve programs of docs/gallery.md and draw their pictures again
	cd docs/gallery && for program in ../../examples/gallery/*.py; do "$(CURDIR)/$(BIN)/python" $$program || exit 1; done

house: $(READY)  ## draw docs/house.svg, the rooms and their doors, from the import graph
	$(BIN)/python -m handbook.house

$(PEERS_READY): benchmarks/requirements-peers.lock
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --require-hashes -r benchmarks/requirements-peers.lock
	@touch $(PEERS_READY)

SUITES ?=
ONLY ?=
AGAIN ?=
bench: $(READY) $(PEERS_READY)  ## accuracy and time against the peers, what is not stored yet, and docs/utility.md: make bench DATA=FOLDER
	$(BIN)/python -m pip install --quiet --require-hashes -r benchmarks/requirements-persons.txt
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/bench.py $(SUITES) --data "$(DATA)" --peers $(PEERS)/bin/python --only "$(ONLY)" $(AGAIN)

bench-page: $(READY)  ## write docs/utility.md from the stored results, and mark what is older than the program
	$(BIN)/python benchmarks/bench.py --page

dist: $(READY)  ## wheels and source archives, built twice, tried with every Python found: make dist PYTHONS=PATH adds one
	$(BIN)/python distributions/make.py $(addprefix --python ,$(PYTHONS))

image:  ## build the image of the Containerfile and run the demonstration in it (podman, docker, or buildah and debootstrap)
	distributions/image

lock: $(READY)  ## resolve the development lock again (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --group dev pyproject.toml --output-file requirements-dev.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  benchmarks/requirements-peers.in --output-file benchmarks/requirements-peers.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  fuzz/requirements.in --output-file fuzz/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  handbook/requirements.in --output-file handbook/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-deps \
	  tests/requirements-spark.in --output-file tests/requirements-spark.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-deps \
	  handbook/requirements-diffprivlib.in --output-file handbook/requirements-diffprivlib.lock

clean:  ## remove the virtual environment and what tools left behind
	rm -rf $(VENV) $(PEERS) $(FUZZER) $(SPARK) $(HANDBOOK) $(FORMER) build dist demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
