#!/bin/sh
# Makes .venv with a Python >= 3.11 and installs one requirements file into it: scripts/setup.sh requirements.txt
# Further arguments go to the installer (--no-deps).
# BASE_PYTHON names the Python to use. uv installs where it is present, pip where it is not or where uv fails.
set -eu
cd "$(dirname "$0")/.."
requirements=$1
shift
venv_python=.venv/bin/python

fail() {
    echo "$1" >&2
    exit 1
}

usable() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

if ! usable "$venv_python"; then
    base=
    for candidate in ${BASE_PYTHON:-python3 python3.13 python3.12 python3.11 python}; do
        if usable "$candidate"; then
            base=$candidate
            break
        fi
    done
    if [ -n "$base" ]; then
        if ! "$base" -m venv --clear .venv >/dev/null 2>&1; then
            command -v uv >/dev/null 2>&1 || fail "Python's venv module is incomplete here: install it \
(Debian, Ubuntu: apt install python3-venv) and run make again."
            uv venv --clear --quiet --python "$base" .venv
        fi
    elif [ -z "${BASE_PYTHON:-}" ] && command -v uv >/dev/null 2>&1; then
        uv venv --clear --quiet --python ">=3.11" .venv
    else
        fail "CRAG needs Python 3.11 or newer and found none under the names ${BASE_PYTHON:-python3, python3.13, \
python3.12, python3.11, python}: install it from python.org or your package manager and run make again."
    fi
fi

echo "Installing $requirements into .venv (only when it has changed) ..."
if command -v uv >/dev/null 2>&1 && uv pip install --quiet --python "$venv_python" -r "$requirements" "$@"; then
    exit 0
fi
"$venv_python" -m pip --version >/dev/null 2>&1 || "$venv_python" -m ensurepip >/dev/null 2>&1 ||
    fail "There is no pip in .venv: remove the folder .venv, install python3-venv, and run make again."
"$venv_python" -m pip install --quiet --disable-pip-version-check -r "$requirements" "$@" ||
    fail "The packages of $requirements could not be installed: read pip's message above; usually there is no network."
