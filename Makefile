# Every target makes the virtual environment it needs, so each works on a fresh machine:
#   make demo    train a digits classifier from a loss in plain NumPy (plot in out/)
#   make test    the whole test suite
#   make check   style, types, layering, doctests
#   make bench   the table against JAX and NumPy (JSON in out/)
#   make fuzz    random programs, COUNT of them, and WRITES that write in place
#   make docs    write the generated pages of docs/
.PHONY: demo test check bench fuzz docs format clean
.DEFAULT_GOAL := demo

PYTHON ?= python3
COUNT ?= 2000
WRITES ?= 100000
BIN := .venv/bin
READY = .venv/.ready-
# One thread per test process: the suite already runs one process a core.
SINGLE = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

demo: $(READY)examples
	$(BIN)/python examples/digits.py

test: $(READY)test
	$(SINGLE) $(BIN)/python -m pytest -n 2 -q $(PYTEST)

check: $(READY)check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' src README.md docs

bench: $(READY)jax
	$(BIN)/python -m benchmarks

fuzz: $(READY)test
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz --count $(COUNT)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_writes --count $(WRITES)

docs: $(READY)docs
	$(BIN)/python -m pliant coverage --markdown > .venv/coverage.md
	mv .venv/coverage.md docs/coverage.md

format: $(READY)check
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:
	rm -rf .venv out

# The stamp says that an extra is installed; a change of pyproject.toml installs it again.
$(READY)%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[$*]'
	@touch $@

$(BIN)/python:
	$(PYTHON) -m venv .venv
