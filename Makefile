.DEFAULT_GOAL := help
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
PEERS  := .venv-peers/.installed

help:  ## What can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

$(PEERS): pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check '.[peers]' || { rm -rf .venv-peers; exit 1; }
	touch $(PEERS)

.venv-gauntlet/.installed: benchmarks/gauntlet/requirements.txt
	$(PYTHON) -m venv .venv-gauntlet
	.venv-gauntlet/bin/python -m pip install --quiet --disable-pip-version-check -r $< || { rm -rf .venv-gauntlet; exit 1; }
	touch $@

gauntlet-peers: .venv-gauntlet/.installed  ## An environment with the tools that run on the gauntlet's releases

gauntlet: $(STAMP)  ## Assess every release with a known answer, and write docs/gauntlet.md; takes long
	-$(BIN)/python benchmarks/gauntlet/run.py --limit 600
	$(BIN)/python benchmarks/gauntlet/page.py

peers: $(PEERS)  ## An environment with the second tools that results are compared with

setup: $(STAMP)  ## A virtual environment with everything

demo: $(STAMP)  ## Attack a generated release, find a safe one; both reports in demo/
	$(BIN)/unmask demo --out demo

serve: $(STAMP)  ## The same in a browser, on this machine alone: prints the address to open
	$(BIN)/unmask serve

# Images often ask Python to keep no bytecode: hundreds of processes that tests start would then read all source again.
# Two workers use both cores: a second thread of linear algebra would only wait, and busily.
# Figures on pages and in tests are to the last digit: Intel and AMD processors take the same kernels of linear algebra.
SAME := OPENBLAS_CORETYPE=Haswell
LEAN := $(SAME) PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

test: $(STAMP)  ## All tests but the slow simulations; without the second tools theirs are skipped, but not under CI
	@$(MAKE) --no-print-directory peers || test -z "$$CI"
	$(LEAN) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(STAMP)  ## The simulations that take minutes: coverage, calibration, false alarms
	$(LEAN) $(BIN)/python -m pytest -n 2 --dist worksteal -m slow

dist: $(STAMP)  ## The sdist and the wheel in dist/: the same bytes wherever they are built
	rm -rf dist && $(BIN)/python -m build --outdir dist .

sbom: $(STAMP)  ## What unmask needs in dist/: CycloneDX, and the licences in full
	$(BIN)/python packaging/sbom.py --out dist

test-package: $(STAMP)  ## Build, install into a fresh environment, run the demo
	$(BIN)/python packaging/trials.py package

test-oldest: $(STAMP)  ## Chosen tests with exactly the lower bounds of pyproject.toml
	$(BIN)/python packaging/trials.py oldest

test-newest: $(STAMP)  ## Chosen tests with the newest of everything; PYTHON=python3.13 for another Python
	$(BIN)/python packaging/trials.py newest $(PYTHON)

test-pandas2: $(STAMP)  ## Chosen tests with pandas 2
	$(BIN)/python packaging/trials.py pandas2

mutants: $(STAMP)  ## Change single places that decide a number and see whether a test fails (docs/mutants.md); half an hour
	$(BIN)/python tests/mutants.py

MINUTES ?= 10
fuzz: $(STAMP)  ## Nasty inputs for so many MINUTES, from where fuzz.json ends (docs/fuzz.md)
	NUMBA_NUM_THREADS=1 POLARS_MAX_THREADS=1 nice -n 19 $(BIN)/python tests/fuzz/run.py --minutes $(MINUTES)

lint: $(STAMP)  ## ruff and mypy --strict
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

bench: $(STAMP) $(PEERS)  ## Benchmarks, ratios against named peers
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	for b in benchmarks/*.py; do $(BIN)/python $$b || exit 1; done

docs: $(STAMP)  ## The documentation in site/: examples run, links checked, warnings are errors
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/schemas.py
	$(SAME) $(BIN)/python docs/examples.py
	$(SAME) $(BIN)/python docs/notebooks.py
	$(BIN)/python -m sphinx -W --keep-going -n -q docs site

papers: $(STAMP)  ## Reproduce the papers' tables and figures into docs/papers
	for p in benchmarks/papers/*.py; do case $$p in *_page.py) ;; *) $(BIN)/python $$p || exit 1;; esac; done

clean:  ## Remove what was made
	rm -rf $(VENV) .venv-peers .venv-gauntlet demo dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help peers setup demo serve test test-slow dist sbom test-package test-oldest test-newest test-pandas2 mutants fuzz lint bench docs papers clean gauntlet gauntlet-peers
