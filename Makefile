# Every verb of this project. Each makes or reuses .venv, builds the core when its sources changed, installs
# what it needs, and runs. `make PYTHON=/path/to/python ...` chooses the interpreter of a new .venv.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test thorough check format parity parity-tests interop compat compat-reduced oldest bench limits docs gpu-check wheel notices clean

PYTHON ?= $(shell tools/python.sh)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/stamps
# What gcc 12 takes for better slows the decoding of zstd by a twentieth; other compilers don't know the option.
# What is set here stands in the place of what .cargo/config.toml sets.
GCC_FLAG := -fno-forward-propagate
export CFLAGS := $(CFLAGS) -DZSTD_DECODER_INTERNAL_BUFFER=131072 \
	$(shell $(CC) -Werror $(GCC_FLAG) -E -x c /dev/null >/dev/null 2>&1 && echo $(GCC_FLAG))
RUST_SOURCES := $(shell find crates -type f) Cargo.toml Cargo.lock .cargo/config.toml

# What maturin sets for its own build: with the same, cargo reuses what maturin built, and the reverse.
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
CARGO = env PYO3_BUILD_EXTENSION_MODULE=1 \
	$$(ls -t $(TARGET)/maturin/pyo3-config-*.txt | sed -n "1s/^/PYO3_CONFIG_FILE=/p") cargo

help:
	@echo "make demo      write and read a microscopy stack with blazarr and zarr-python, side by side"
	@echo "make test      all tests: the Rust core's, then the Python package's"
	@echo "make thorough  the property tests with 10,000 examples each"
	@echo "make check     formatters, linters, types, licence notices"
	@echo "make format    let the formatters change the sources"
	@echo "make parity    compare the public names with zarr-python's; writes docs/parity.md"
	@echo "make parity-tests  zarr-python's own tests, run on blazarr; writes docs/parity-tests.md"
	@echo "make interop   arrays exchanged with zarr-python, TensorStore, GDAL and zarrita.js; writes docs/interop-table.md"
	@echo "make compat    other projects' tests of codec pipelines, run with blazarr's (20 minutes)"
	@echo "make compat-reduced  a part of these (a minute)"
	@echo "make oldest    tests with the oldest Python and packages that are supported, where that Python is"
	@echo "make bench     blazarr beside its peers; writes benchmarks/results"
	@echo "make limits    full reads beside the least that they can cost"
	@echo "make docs      build the documentation site into site, strictly"
	@echo "make gpu-check what can be checked of the GPU code without a GPU (fetches 600 MB of NVIDIA's wheels)"
	@echo "make wheel     build a wheel into dist"
	@echo "make notices   rewrite THIRD_PARTY_NOTICES.md"
	@echo "make clean     remove everything that these made"

demo: $(STAMP)/core $(STAMP)/group-demo
	$(BIN)/python examples/demo.py

test: $(STAMP)/core $(STAMP)/group-test
	$(CARGO) test --release --locked --workspace
	$(BIN)/python -m pytest -n 2

thorough: $(STAMP)/core $(STAMP)/group-test
	$(BIN)/python -m pytest -n 2 --hypothesis-profile thorough -m hypothesis

# The tests' packages too: types of what they have are looked at.
check: $(STAMP)/core $(STAMP)/group-test $(STAMP)/group-check
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	cargo fmt --all --check
	$(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings
	$(BIN)/python tools/notices.py --check

format: $(STAMP)/group-check
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format
	cargo fmt --all

parity: $(STAMP)/core $(STAMP)/group-test
	$(BIN)/python tools/parity.py

parity-tests: $(STAMP)/core $(STAMP)/group-parity
	$(BIN)/python tools/zarr_tests/run.py

INTEROP := build/interop/zarrita

interop: $(STAMP)/core $(STAMP)/group-interop
	mkdir -p $(INTEROP) && cp tools/interop/zarrita/* $(INTEROP)
	npm install --prefix $(INTEROP) --silent --no-audit --no-fund
	$(BIN)/python tools/interop/run.py

compat: $(STAMP)/core $(STAMP)/group-compat
	$(BIN)/python tools/compat/run.py

compat-reduced: $(STAMP)/core $(STAMP)/group-compat
	$(BIN)/python tools/compat/run.py --reduced

# The oldest Python and packages that are supported, in an environment of their own.
OLDEST := build/oldest
OLDEST_PYTHON := 3.11
OLDEST_PACKAGES := numpy==2.0.0 numcodecs==0.16.1 zarr==3.1.0 \
	"pytest>=8.4,<10" "pytest-xdist>=3.8,<4" "hypothesis>=6.140,<7" "fsspec>=2024.10"
OLDEST_TESTS := tests/compat tests/unit/metadata tests/unit/grids tests/unit/dtypes \
	tests/unit/engine/test_chunks.py tests/unit/engine/test_plan.py

oldest: $(STAMP)/core
	if ! python=$$(tools/python.sh $(OLDEST_PYTHON)); then \
	    echo "the oldest supported packages were not tested: there is no Python $(OLDEST_PYTHON) here"; exit 0; \
	fi; \
	if [ ! $(OLDEST)/ready -nt Makefile ]; then \
	    rm -rf $(OLDEST); "$$python" -m venv $(OLDEST); \
	    $(OLDEST)/bin/python -m pip install --quiet $(OLDEST_PACKAGES); \
	    touch $(OLDEST)/ready; \
	fi; \
	rm -f $(OLDEST)/*.whl; \
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin build --quiet --release --locked --out $(OLDEST); \
	$(OLDEST)/bin/python -m pip install --quiet --no-deps --force-reinstall $(OLDEST)/*.whl; \
	$(OLDEST)/bin/python -m pytest -n 2 $(OLDEST_TESTS)

bench: $(STAMP)/core $(STAMP)/group-bench
	$(BIN)/python benchmarks/run.py

limits: $(STAMP)/core
	$(CARGO) build --release --locked -p blazarr-core --example lean
	$(BIN)/python benchmarks/limits/run.py $$(ls $(TARGET)/release/examples/liblean.{so,dylib} 2>/dev/null)

docs: $(STAMP)/group-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

GPU_WHEELS := build/gpu-wheels
GPU_PACKAGES := nvidia-libnvcomp-cu12==5.3.0.16 nvidia-libnvcomp-cu12==6.0.0.12 \
	nvidia-libnvcomp-cu13==5.3.0.16 nvidia-libnvcomp-cu13==6.0.0.12 \
	nvidia-cuda-nvrtc-cu12==12.9.86 nvidia-cuda-nvrtc==13.0.88

gpu-check: $(STAMP)/core $(STAMP)/group-test $(STAMP)/gpu-wheels
	BLAZARR_GPU_WHEELS=$(CURDIR)/$(GPU_WHEELS) $(BIN)/python -m pytest -n 2 tests/unit/cuda tests/unit/codecs/test_gdeflate.py
	$(BIN)/python -m pytest -p tests.gpu.through_waves tests/stateful tests/conformance
	$(BIN)/python -m pytest -p tests.gpu.through_waves --fail-every-call tests/stateful \
	    tests/conformance/test_files.py tests/conformance/test_scripts.py

$(STAMP)/gpu-wheels: $(STAMP)/tools Makefile
	for package in $(GPU_PACKAGES); do \
	    folder=$(GPU_WHEELS)/$$package; rm -rf $$folder; \
	    $(BIN)/python -m pip download --quiet --no-deps --dest $$folder $$package; \
	    $(BIN)/python -m zipfile -e $$folder/*.whl $$folder; rm $$folder/*.whl; \
	done
	touch $@

wheel: $(STAMP)/tools
	rm -rf dist
	$(BIN)/maturin build --release --locked --out dist
	$(BIN)/python tools/check_wheel.py dist/*.whl

notices: $(STAMP)/tools
	$(BIN)/python tools/notices.py

clean:
	rm -rf $(VENV) target dist build site demo-data .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks examples tools -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f src/blazarr/_core.*.so src/blazarr/_core.*.pyd

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(STAMP)/tools: $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1" "maturin>=1.9,<2"
	mkdir -p $(STAMP) && touch $@

$(STAMP)/core: $(STAMP)/tools $(RUST_SOURCES) pyproject.toml
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --release --locked
	touch $@

$(STAMP)/group-%: $(STAMP)/tools pyproject.toml
	$(BIN)/python -m pip install --quiet --group $*
	touch $@
