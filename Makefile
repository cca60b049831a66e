# Two commands: `make run` answers questions at http://localhost:8000, `make test` runs the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv is quicker; venv and pip do the same.
UV := $(shell command -v uv 2>/dev/null)
INSTALL = $(if $(UV),$(UV) pip install --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check) --constraint constraints.txt

.PHONY: run test lint clean
.DELETE_ON_ERROR:

run: $(VENV)/.core
	@exec $(BIN)/causeway serve --collection demo --ingest notebooks/demo

test: $(VENV)/.dev
	$(BIN)/pytest --cov --cov-report=term

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

studio: $(VENV)/.studio
	$(BIN)/langgraph dev --no-browser

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Causeway needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(if $(UV),$(UV) venv --quiet --python $(PYTHON) $(VENV),$(PYTHON) -m venv $(VENV))

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Causeway into $(VENV), which takes about a minute ..."
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Causeway and its tests' tools into $(VENV) ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $@ $(VENV)/.core

$(VENV)/.studio: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing LangGraph Studio's server into $(VENV) ..."
	@$(INSTALL) --editable '.[studio]'
	@touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) build *.egg-info
