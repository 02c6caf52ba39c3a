# Every target makes the virtual environment it needs, so each works on a fresh machine:
#   make demo    train a digits classifier from a loss in plain NumPy (plot in out/)
#   make test    the whole test suite
#   make check   style, types, layering, doctests
#   make systems pliant.diff over every differentiation system (2.5 GB); SCENARIOS=all for the whole matrix
#   make bench   the table against JAX and NumPy (JSON in out/); benchmarks/loops asks for numba too
#   make fuzz    random programs, COUNT of them, FLOWS of loops and branches, and WRITES that write in place;
#                then again with all that is done to large programs forced on them
#   make docs    write the generated pages of docs/
.PHONY: demo test check systems bench fuzz docs format clean
.DEFAULT_GOAL := demo

PYTHON ?= python3
COUNT ?= 2000
FLOWS ?= 2000
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
	$(BIN)/pyright -p benchmarks
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' src README.md docs

# PyTensor wants an older llvmlite than Pliant does, so these have an environment of their own.
SYSTEMS := .venv/systems
systems: $(SYSTEMS)/.ready
	PLIANT_SCENARIOS=$(SCENARIOS) TF_CPP_MIN_LOG_LEVEL=3 $(SINGLE) \
		$(SYSTEMS)/bin/python -m pytest -n 2 -q tests/diff $(PYTEST)

$(SYSTEMS)/.ready: pyproject.toml | $(BIN)/python
	$(PYTHON) -m venv $(SYSTEMS)
	$(SYSTEMS)/bin/python -m pip install -qq --disable-pip-version-check pytensor tensorflow-cpu 'mlx[cpu]' \
		casadi sympy autograd jax enzyme-ad scipy optree pytest pytest-xdist hypothesis matplotlib
	$(SYSTEMS)/bin/python -m pip install -qq --disable-pip-version-check --no-deps -e .
	@touch $@

bench: $(READY)bench
	$(BIN)/python -m benchmarks

fuzz: $(READY)test
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz --count $(COUNT)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_flows --count $(FLOWS)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_flows --of nests --count $(FLOWS)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_flows --of mixed --count $(FLOWS)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_writes --count $(WRITES)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz --forced --count $(COUNT) --only llvm threads derivatives vmap
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_flows --forced --of nests --count $(FLOWS)
	$(SINGLE) $(BIN)/python -m tests.properties.fuzz_writes --forced --count $(WRITES)

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
