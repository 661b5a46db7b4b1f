# Each target sets up what it needs in .venv; nothing but Python 3.10+ and make is assumed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The tests start some hundred processes: without bytecode each would compile a thousand modules.
unexport PYTHONDONTWRITEBYTECODE
DEMO ?= data/demo
# What is installed for the tests beside pairsmith itself.
EXTRAS ?= dev

.PHONY: demo test test-all check lint types format samples bench clean

demo: $(VENV)/.installed-core
	$(BIN)/pairsmith generate -n 600 -o $(DEMO) --verify run --workers 2 || \
	  { rm -rf $(DEMO) && $(BIN)/pairsmith generate -n 600 -o $(DEMO) --verify run --workers 2; }
	$(BIN)/pairsmith stats $(DEMO)
	$(BIN)/pairsmith show $(DEMO)

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q

# The same with whole sweeps, where `test` takes a part of each (tests/support/sweeps.py).
test-all: export PAIRSMITH_SWEEP = 1
test-all: test

check: lint types
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -q -m "not slow"

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

samples: $(VENV)/.installed-core
	$(BIN)/python scripts/author/make_samples.py data/samples
	$(BIN)/python scripts/author/write_example.py

bench: $(VENV)/.installed-dev
	$(BIN)/python tests/bench/bench_text.py

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "pairsmith needs Python 3.10 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-core: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e .
	touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet -e '.[$(EXTRAS)]'
	touch $@ $(VENV)/.installed-core

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
