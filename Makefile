# Two commands: `make run` answers questions at http://localhost:8000, `make test` runs the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv is quicker; venv and pip do the same.
UV := $(shell command -v uv 2>/dev/null)
INSTALL = $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_OPTIONS)) --constraint constraints.txt

# Three on two cores: tests wait for processes most of the time. In order: those with the fewest tests, which would
# come last otherwise, last longest.
PARALLEL := -n 3 --dist loadfile --no-loadscope-reorder

COVERED := $(VENV)/covered
# Tests start Python some hundred times: whatever the machine's settings, nothing is compiled twice.
test test-slow notebooks: export PYTHONDONTWRITEBYTECODE =

# Runs what failed once more, alone, and names it.
TESTS = $(BIN)/python .ci/run_tests.py

.PHONY: run install check retrieval-gate test test-page test-slow test-thorough test-timed notebooks lint docs docs-check bench bench-smoke studio studio-install clean check-release
.DELETE_ON_ERROR:

run: $(VENV)/.core
	@exec $(BIN)/causeway serve --collection demo --ingest notebooks/demo $(if $(PORT),--port $(PORT))

# What an optional part needs: make install WITH=ollama,s3
install: $(VENV)/.core
	@$(INSTALL) --editable '.[$(WITH)]'

test: $(VENV)/.dev
	@rm -rf $(COVERED) && mkdir $(COVERED)
	COVERED=$(CURDIR)/$(COVERED) $(TESTS) -p tests.measured $(PARALLEL)
	@$(BIN)/python -m slipcover --merge $(COVERED)/sum.json --out $(COVERED)/all.json --fail-under 90

# For every commit, in minutes: style, types, the tests closest to what changed since BASE, and retrieval over the demo.
check: lint retrieval-gate
	@affected="$$($(BIN)/python .ci/affected_tests.py $(BASE))" && { [ -z "$$affected" ] || $(TESTS) $(PARALLEL) $$affected; }

# Retrieval over the demo has not become worse. A new baseline, where a drop is wanted: causeway eval run --collection demo
# --json > tests/golden/retrieval_baseline.json
retrieval-gate: $(VENV)/.dev
	@home=$$(mktemp -d /tmp/cw-XXXXXX) && trap "rm -rf $$home" EXIT && export DATABASE_URL= CAUSEWAY_HOME=$$home && \
	$(BIN)/causeway ingest notebooks/demo --collection demo >/dev/null && \
	$(BIN)/causeway eval golden import tests/golden/demo.json --collection demo && \
	$(BIN)/causeway eval gate --collection demo --baseline tests/golden/retrieval_baseline.json \
		--metric hit@10 --metric mrr@10 --metric ndcg@10

# Properties with many random examples, where `make test` takes the same few each time.
test-thorough: $(VENV)/.dev
	$(TESTS) $(PARALLEL) -m hypothesis --hypothesis-profile=thorough

# What compares times: nothing else may run beside it.
test-timed: $(VENV)/.dev
	$(TESTS) -m timed

# The page in a browser, and LangGraph Studio's server.
test-page: $(VENV)/.dev $(VENV)/.studio
	$(TESTS) $(PARALLEL) -m slow tests/browser tests/studio

# All that needs more than the core install, or more than seconds.
test-slow: $(VENV)/.dev $(VENV)/.slow
	$(TESTS) $(PARALLEL) -m slow
	$(TESTS) -m milvus tests/conformance tests/graphrag/stores/test_milvus.py

# What a version needs besides what every change does.
check-release:
	.ci/release

# From top to bottom, over a database of their own.
notebooks: $(VENV)/.dev $(VENV)/.notebooks
	@home=$$(mktemp -d /tmp/cw-XXXXXX) && trap "rm -rf $$home" EXIT && \
	DATABASE_URL= CAUSEWAY_HOME=$$home $(BIN)/python -m pytest --nbmake notebooks

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python .ci/docstrings.py
	$(BIN)/python .ci/lexicon.py
	$(BIN)/mypy

# The documentation as a site, in build/site.
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

# That site, and every command of its pages.
docs-check: docs
	$(BIN)/python -m tests.readme_commands README.md docs/*.md

# Bigger ones take much longer: make bench SIZES=2000,50000,300000
SIZES ?= 2000
bench: $(VENV)/.bench
	@echo "Measuring; at 2,000 chunks this takes about three minutes on two cores ..."
	$(BIN)/python -m tests.benchmarks.answers
	$(BIN)/python -m tests.benchmarks.retrieval --sizes $(SIZES)

# Every benchmark once, at its smallest size, to see that it still runs.
bench-smoke: $(VENV)/.bench
	$(BIN)/python -m tests.benchmarks.smoke

# It tells nobody that it runs, asks no index for a newer version, and traces nothing without being told to.
studio: export LANGGRAPH_CLI_NO_ANALYTICS = 1
studio: export LANGGRAPH_NO_VERSION_CHECK = 1
studio: export LANGSMITH_TRACING ?= false
studio: studio-install
	@exec $(BIN)/langgraph dev --no-browser

studio-install: $(VENV)/.studio

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Causeway needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(if $(UV),$(UV) venv --quiet --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV))

# Each stamp stands for one installed set of extras.
$(VENV)/.core: EXTRAS =
$(VENV)/.dev: EXTRAS = [dev]
$(VENV)/.studio: EXTRAS = [studio]
$(VENV)/.docs: EXTRAS = [docs]
$(VENV)/.notebooks: EXTRAS = [notebooks]
$(VENV)/.slow: EXTRAS = [chroma,docs,google,langchain,linguistics,llamaindex,local-models,milvus,ollama,splitters,studio]
$(VENV)/.bench: EXTRAS = [dev,bench]
# Tests compile what they use of it, which is little of it.
$(VENV)/.slow: PIP_OPTIONS = --no-compile
# langchain-postgres asks for an older pgvector than ours, for a class that nobody uses here; botocore, of the tests' S3
# server, for an older python-dateutil, and works with ours.
$(VENV)/.dev: ALONE = moto boto3 botocore s3transfer
$(VENV)/.bench $(VENV)/.slow: ALONE = langchain-postgres
$(VENV)/.core $(VENV)/.dev $(VENV)/.docs $(VENV)/.studio $(VENV)/.notebooks $(VENV)/.slow $(VENV)/.bench: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing causeway$(EXTRAS) into $(VENV), which takes about a minute ..."
	@$(INSTALL) --editable '.$(EXTRAS)'
	@$(if $(ALONE),$(INSTALL) --no-deps $(ALONE))
	@touch $@

clean:
	rm -rf $(VENV) build *.egg-info
