# Two commands: `make demo` and `make test`. Each sets itself up in .venv on first use.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
BIOME := node_modules/.bin/biome
NODE_STAMP := node_modules/.installed

.PHONY: demo test quick fuzz check-page format
demo: $(STAMP)
	$(BIN)/polyladder demo

# What pytest makes of the test files is kept for the next run, and for its second worker.
test quick: export PYTHONDONTWRITEBYTECODE =
test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) --no-print-directory check-page
	$(BIN)/pytest

# The inner loop: the tests that take a moment, of every room. Files without one are not even read.
quick: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/pytest -m "not checks and not slow" --ignore=tests/fuzz --ignore-glob='*/test_checks*.py' tests

# Other random inputs each time, until the time is over or one of them finds a fault.
MINUTES ?= 10
fuzz: $(STAMP)
	end=$$(( $$(date +%s) + 60 * $(MINUTES) )); while [ $$(date +%s) -lt $$end ]; do \
	POLYLADDER_FUZZ_EXAMPLES=200 $(BIN)/pytest tests/fuzz || exit 1; done

# The report page's scripts: checked where npm can install the linter; elsewhere one line says that they were not.
check-page: $(if $(shell command -v npm),$(NODE_STAMP))
	@if test -x $(BIOME); then $(BIOME) ci --error-on-warnings; \
	else echo "SKIPPED: the report page's scripts were not linted, as npm or its registry is not there."; fi

format: $(STAMP) $(if $(shell command -v npm),$(NODE_STAMP))
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	test ! -x $(BIOME) || $(BIOME) check --write

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

$(NODE_STAMP): package.json package-lock.json
	-@npm ci --silent --no-audit --no-fund && touch $@
