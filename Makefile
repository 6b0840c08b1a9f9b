# Two commands for a fresh clone with Python 3.11 or newer: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
WORKERS ?= auto
EXAMPLES ?= 10000
SHARDS ?= 50
BUDGET ?= 8000
THREADS ?= 100000

SECONDS ?= 600
MINUTES ?= 20

.PHONY: demo test test-stores servers lint types contracts bare tests conformance test-deep fuzz bench beside quality docs docs-serve coverage help size clean
.PHONY: test-doors soak

demo: $(VENV)/.installed ## fit a recorded conversation to a budget and show what became of each message
	@$(BIN)/python examples/demo.py --budget $(BUDGET)

test: lint types contracts bare tests ## all that stands between a change and main

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.installed: pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

contracts: $(VENV)/.dev
	$(BIN)/lint-imports

bare: $(VENV)/.dev ## in an environment with nothing but Python
	@rm -rf .venv-bare && $(PYTHON) -m venv --without-pip .venv-bare
	$(BIN)/python -m pip --python .venv-bare/bin/python install --quiet --disable-pip-version-check --no-deps .
	.venv-bare/bin/python -W error tests/without_dependencies.py
	@rm -rf .venv-bare

tests: $(VENV)/.dev
	HOLDFAST_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n $(WORKERS)

test-stores: $(VENV)/.dev servers ## stores on real servers, started for it; HOLDFAST_KILLS=500 for the long form
	$(BIN)/python -m pytest tests/servers

servers: ## PostgreSQL and Redis of the system's packages, which the tests start by themselves
	@ls /usr/lib/postgresql/*/bin/postgres $$(command -v redis-server || echo /none) >/dev/null 2>&1 || \
		{ SUDO=$$(command -v sudo || true); $$SUDO apt-get update -qq && \
		RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive $$SUDO apt-get install -y -qq --no-install-recommends postgresql redis-server >/dev/null; }

conformance: $(VENV)/.dev ## HOLDFAST_CASES=FILE make conformance
	$(BIN)/python -m tests.conformance $(HOLDFAST_CASES)

test-deep: $(VENV)/.dev ## a million generated conversations, in shards of 20,000 that can run apart: SHARD=7
	$(BIN)/python -m tests.properties $(if $(SHARD),--shard $(SHARD),--shards $(SHARDS))

test-doors: .venv-doors/.installed .venv-litellm/.installed .node/.installed ## agents, gateways and frameworks as they are installed; in environments of their own
	.venv-litellm/bin/python -m pytest $(DOORS) tests/clients/litellm_calls.py
	.venv-doors/bin/python -m pytest $(DOORS) tests/clients/agents.py tests/clients/claude_counts.py tests/clients/langchain_agent.py

DOORS := -p no:cacheprovider -o filterwarnings=default::UserWarning

.venv-doors/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-doors
	.venv-doors/bin/python -m pip install --quiet --disable-pip-version-check -e '.[proxy,mcp,langchain,openai,anthropic,gemini]' langchain-openai pytest pytest-timeout hypothesis
	.venv-doors/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --ignore-requires-python ctok regex
	@touch $@

.venv-litellm/.installed: pyproject.toml # which pins older packages of the vendors
	$(PYTHON) -m venv .venv-litellm
	.venv-litellm/bin/python -m pip install --quiet --disable-pip-version-check -e '.[proxy]' litellm fastapi httpx2 mcp pytest pytest-timeout hypothesis
	@touch $@

.node/.installed:
	@command -v npm >/dev/null || (apt-get update --quiet && apt-get install --quiet --yes nodejs npm)
	npm install --silent --no-audit --no-fund --prefix .node @anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0 opencode-ai@1.18 @modelcontextprotocol/inspector
	node .node/node_modules/@anthropic-ai/claude-code/install.cjs
	@touch $@

soak: $(VENV)/.dev ## the proxy under load, with a provider that fails in every way; MINUTES=20
	$(BIN)/python -m benchmarks.proxy.soak --minutes $(MINUTES)

fuzz: $(VENV)/.dev ## random conversations against an independent checker; SECONDS=3600 SEED=7; prints the smallest case
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

bench: .venv-peers/.installed $(VENV)/.dev servers ## DATA=FILE and SHARED=DIR, else the recorded examples strung together; peers in an environment of their own
	.venv-peers/bin/python -m benchmarks.speed $(if $(DATA),--data $(DATA))
	.venv-peers/bin/python -m benchmarks.session $(if $(DATA),--data $(DATA))
	.venv-peers/bin/python -m benchmarks.proxy.beside
	.venv-peers/bin/python -m benchmarks.cost $(SHARED)
	$(BIN)/python -m benchmarks.stores
	$(BIN)/python -m benchmarks.batches
	$(BIN)/python -m benchmarks.scale --threads $(THREADS)
	$(BIN)/python -m benchmarks.scale --threads $(THREADS) --store postgres

beside: .venv-peers/.installed ## what is still there after fitting, beside other libraries: the table of README
	.venv-peers/bin/python -m benchmarks.beside

.venv-peers/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e '.[local,proxy]' langchain-core headroom-ai litellm
	@touch $@

quality: $(VENV)/.dev ## SHARED=DIR that holds bench/ and data/; PARTS="runs said" for some of it
	$(BIN)/python -m benchmarks.quality $(SHARED) $(PARTS)

docs: $(VENV)/.dev ## the documentation site, in build/site
	$(BIN)/python -W ignore -m mkdocs build --quiet
	@echo "open build/site/index.html"

docs-serve: $(VENV)/.dev ## the site on http://127.0.0.1:8000, built again after each change
	$(BIN)/python -W ignore -m mkdocs serve

coverage: $(VENV)/.dev ## which lines no test reaches: shown, not judged
	HOLDFAST_EXAMPLES=200 $(BIN)/python -m pytest -n $(WORKERS) --cov=holdfast --cov-report=term:skip-covered --cov-report=html:build/coverage

help: ## what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

size: ## how much there is of src/holdfast, in figures that no formatting changes
	$(PYTHON) -m benchmarks.size

clean:
	rm -rf $(VENV) .venv-bare .venv-peers .venv-doors .venv-litellm .node build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
