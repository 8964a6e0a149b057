# `make run` starts the app, `make test` runs the tests; each first sets up what is missing in .venv.
PYTHON := .venv/bin/python
PYTEST := $(PYTHON) -m pytest -n auto --maxprocesses 4 --dist loadfile
QUESTION ?= How does CRAG decide between Correct, Ambiguous and Incorrect?

.PHONY: help run test test-full check demo guide options images browser

help:
	@echo "make run        set up and start the app in the browser"
	@echo "make test       set up and run the tests (minutes)"
	@echo "make test-full  the tests with the long ones (up to an hour)"
	@echo "make check      format, lint, types, tests"
	@echo "make demo       index the guide and answer one question here"
	@echo "make guide      make Files/crag-guide.pdf from docs/guide"
	@echo "make images     make the pictures of every state of the page in docs/images"
	@echo "make options    bring the table of options in README.md up to date"

run: .venv/requirements.stamp
	@$(PYTHON) -m streamlit run app_streamlit.py

test: .venv/requirements-dev.stamp browser
	@$(PYTEST) -m "not full"

test-full: .venv/requirements-cross-encoder.stamp browser
	@$(PYTEST)

check: .venv/requirements-dev.stamp
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m mypy
	@$(MAKE) --no-print-directory test

demo: .venv/requirements.stamp
	@$(PYTHON) -m crag build
	@$(PYTHON) -m crag ask "$(QUESTION)" --show scores,strips

guide: .venv/requirements-dev.stamp
	@$(PYTHON) scripts/make_guide.py

options: .venv/requirements.stamp
	@$(PYTHON) scripts/options_table.py --write

# The pictures of every state of the page, while axe-core looks at it.
images: .venv/requirements-dev.stamp browser
	@CRAG_IMAGES=docs/images $(PYTHON) -m pytest tests/browser/test_accessibility.py -m full

# Finds or installs a browser for the browser tests; where that is impossible the tests say so themselves.
browser: .venv/requirements-dev.stamp
	@$(PYTHON) scripts/find_browser.py --install >/dev/null || true

.venv/requirements.stamp: requirements.txt
	@sh scripts/setup.sh requirements.txt
	@touch $@

.venv/requirements-dev.stamp: requirements-dev.txt requirements-testmodel.txt requirements.txt
	@sh scripts/setup.sh requirements-dev.txt
	@sh scripts/setup.sh requirements-testmodel.txt --no-deps
	@touch $@ .venv/requirements.stamp

# The optional evaluator, so that its tests are not skipped.
.venv/requirements-cross-encoder.stamp: requirements-cross-encoder.txt .venv/requirements-dev.stamp
	@sh scripts/setup.sh requirements-cross-encoder.txt
	@touch $@
