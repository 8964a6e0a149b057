"""The knowledge base as the rest of the house uses it: build it, list it, and ask one pinned version of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from pydantic import SecretStr

from crag.embedding.base import Embedder, Sending, model_told
from crag.errors import EmptyIndexError, IndexMismatchError, KnowledgeBaseError
from crag.events import BuildEvent, BuildFinished, FileChange, FileRow, FileState, VectorsAhead
from crag.knowledge_base.builder import Builder
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.choosing import near
from crag.knowledge_base.fingerprint import index_fingerprint, parser_name
from crag.knowledge_base.generation import generation_folder, snapshots_lock
from crag.knowledge_base.health import OcrMode
from crag.knowledge_base.kept_vectors import OwnVectors
from crag.knowledge_base.locks import build_lock, held, hold
from crag.knowledge_base.mineru import MinerU, MinerUVersion
from crag.knowledge_base.pages import Pages
from crag.knowledge_base.plan import tried_again
from crag.knowledge_base.publishing import read_state
from crag.knowledge_base.records import Look, State, Target
from crag.knowledge_base.scan import Entry, Hasher, compare, differs, scan
from crag.knowledge_base.snapshot import Snapshot, live_passages
from crag.knowledge_base.upkeep import size_on_disk
from crag.knowledge_base.vector_store import VectorStore, VectorStoreGoneError
from crag.schema import Document

__all__ = ["KnowledgeBase", "Snapshot"]

_log = logging.getLogger(__name__)

_NOTHING = "Nothing is indexed yet: put PDFs into the folder and build the knowledge base."


@dataclass
class _Open:
    """A generation's store and how many snapshots read it."""

    store: VectorStore
    readers: int = 0


class KnowledgeBase:
    """PDFs of one folder and their index in another. Thread-safe; any number of processes may read, one builds.

    Calls block: run them on a pool. Raises KnowledgeBaseError and its family.
    """

    def __init__(
        self,
        files_dir: Path,
        chroma_dir: Path,
        embedder: Embedder,
        *,
        parse_timeout: float = 60.0,
        ocr: OcrMode = "auto",
        ocr_cache: Path | None = None,
        notice: str | None = None,
        mineru: MinerU | None = None,
    ) -> None:
        """`parse_timeout` is in seconds, for each page; `notice` tells why the engine is not the usual.

        `ocr` holds for files without an option of their own; `ocr_cache` is where what it read is kept (in `chroma_dir`
        unless given). With `mineru` every file is sent to that service, which reads it.
        """
        self._files_dir = Path(files_dir)
        self._chroma_dir = Path(chroma_dir)
        self._embedder = embedder
        self._parse_timeout = parse_timeout
        self._ocr = ocr
        self._ocr_cache = ocr_cache or self._chroma_dir / "ocr"
        self._notice = notice
        self._mineru = mineru
        self._mineru_version = MinerUVersion(mineru) if mineru else None
        self._catalog = Catalog(self._chroma_dir / "catalog.db")
        self._hasher = Hasher()
        self._lock = threading.RLock()
        self._stores: dict[int, _Open] = {}
        self._passwords: dict[str, SecretStr] = {}
        self.pages = Pages(self._files_dir, self._catalog, self._hasher, self.password_of)
        """What was read of each file, to look at."""

    # --- what there is ------------------------------------------------------------------------------------------

    def look(self) -> Look:
        """The published files, and what lies in the folder now; reads only what is new or touched.

        Raises KnowledgeBaseError where the folder cannot be listed.
        """
        found, rows = scan(self._files_dir), self._catalog.rows()
        known = tried_again(self._catalog.files(), rows, self._passwords)
        options = self._catalog.options()
        self._hasher.remember(known)
        changes = compare(found.entries, known, self._hasher, self._fingerprint(), options, self._ocr)
        ordered = sorted(changes, key=lambda change: change.path)
        return Look(tuple(rows), tuple(ordered), tuple(found.ignored), self._ahead(rows))

    def changes(self) -> list[FileChange]:
        """What a rebuild would do with each path, sorted."""
        return list(self.look().changes)

    def vectors_ahead(self) -> VectorsAhead | None:
        """What a rebuild would do with vectors, where that is more than adding to them on this machine; asks nobody."""
        return self._ahead(self._catalog.rows())

    def _ahead(self, rows: Sequence[FileRow]) -> VectorsAhead | None:
        state = self._catalog.state()
        destination = self._embedder.destination if isinstance(self._embedder, Sending) else ""
        passages = sum({row.content: row.passages for row in rows}.values())
        anew = bool(state.generation and passages) and state.fingerprint != self._fingerprint()
        if not anew and not destination:
            return None
        return VectorsAhead(
            after=model_told(self._embedder.fingerprint),
            before=model_told(state.embedding) if anew else "",
            passages=passages if anew else 0,
            destination=destination,
        )

    def rows(self) -> list[FileRow]:
        """The published files by path; failed ones with their reason."""
        return self._catalog.rows()

    def password_of(self, path: str) -> str | None:
        """The password that this process was given for a path."""
        with self._lock:
            password = self._passwords.get(path)
        return None if password is None else password.get_secret_value()

    def set_password(self, path: str, password: str | None) -> None:
        """The password of a file for builds and page images of this process; kept in memory only. None forgets it.

        What was indexed with it stays so: unchanged bytes are not read again. Raises KnowledgeBaseError for a path that
        is not in the folder.
        """
        if password and self._entry(path) is None:
            raise KnowledgeBaseError(f"There is no file {path}{near(path, list(self._catalog.files()))}.")
        with self._lock:
            if password:
                self._passwords[path] = SecretStr(password)
            else:
                self._passwords.pop(path, None)

    def staged(self) -> int:
        """Finished files of an unfinished build that could be published now."""
        return len(self._publishable())

    def size_on_disk(self) -> int:
        """Bytes of the index: catalog, words, vectors of every generation."""
        return size_on_disk(self._chroma_dir)

    def changed_since_build(self) -> bool:
        """Whether names, sizes or times in the folder are others than at the last build; reads no file, so that it can
        be asked every few seconds. Raises KnowledgeBaseError where the folder cannot be listed."""
        return differs(scan(self._files_dir).entries, self._catalog.files())

    def being_built(self) -> str | None:
        """Who builds the index just now, in any process, as a sentence without its end; None where nobody does."""
        return held(self._chroma_dir / "build.lock")

    def version(self) -> int:
        """Of what is published; 0: nothing yet."""
        return self._catalog.state().version

    def options(self) -> dict[str, OcrMode]:
        """The paths that have an option of their own for how their pages are read."""
        return self._catalog.options()

    # --- building -----------------------------------------------------------------------------------------------

    def build(self, cancel: threading.Event | None = None) -> Iterator[BuildEvent]:
        """Brings the index in step with the folder, yielding what happens; see the events in `crag.schema`.

        Once `cancel` is set it stops soon; finished files stay staged. Raises BuildLockedError, EmbeddingError.
        """
        with build_lock(self._chroma_dir / "build.lock"):
            yield from self._builder(cancel or threading.Event()).run()

    def read_again(
        self, path: str, ocr: OcrMode | None = None, cancel: threading.Event | None = None
    ) -> Iterator[BuildEvent]:
        """Reads one file of the folder again, even if it is unchanged, and publishes it; all others stay as they are.

        `ocr` is remembered for the file, and for those with the same bytes, which share one content: the last word
        counts; None keeps what was said before. Raises KnowledgeBaseError for a path that is not in the folder.
        """
        with build_lock(self._chroma_dir / "build.lock"):
            state = self._catalog.state()
            entry = self._entry(path)
            if entry is None:
                raise KnowledgeBaseError(f"There is no file {path}{near(path, list(self._catalog.files()))}.")
            if state.generation and state.fingerprint != self._fingerprint():
                raise KnowledgeBaseError(
                    "The embedding or the reader has changed since the last build: build the knowledge base, "
                    "which reads every file again."
                )
            known = self._catalog.files()
            if ocr is not None:
                mine = known[path].sha256 if path in known else ""
                twins = [name for name, file in known.items() if mine and file.sha256 == mine]
                self._catalog.set_options({path, *twins}, ocr)
            change = FileChange(path=path, state=FileState.CHANGED if path in known else FileState.ADDED)
            yield from self._builder(cancel or threading.Event()).run_again(entry, change)

    def delete(self, path: str) -> None:
        """Deletes a PDF from the folder, for good, and takes it out of the index; all others stay as they are.

        Only what lies in the folder can be named; of a link the link goes. Raises KnowledgeBaseError where there is no
        such file, or where it cannot be deleted: then nothing has changed.
        """
        with build_lock(self._chroma_dir / "build.lock"):
            entry, known = self._entry(path), self._catalog.files()
            if entry is None and path not in known:
                raise KnowledgeBaseError(f"There is no file {path}{near(path, list(known))}.")
            if entry is not None:
                _unlink(entry)
            if not self._catalog.remove(path):
                return
            try:
                self._builder(threading.Event()).clear_only(self._catalog.state())
            except KnowledgeBaseError as error:  # no question finds the file any more; the next build mends the index
                _log.warning("the vectors of a deleted file are left to the next build: %s", error)

    def _entry(self, path: str) -> Entry | None:
        return next((entry for entry in scan(self._files_dir).entries if entry.path == path), None)

    def publish_staged(self) -> BuildFinished:
        """Publishes the finished files of a cancelled build; everything else stays as it was published."""
        with build_lock(self._chroma_dir / "build.lock"):
            state = self._catalog.state()
            staged = self._publishable()
            if not staged:
                if self._catalog.staged():
                    raise KnowledgeBaseError(
                        "A changed embedding or reader is published only when every file is done: build again, "
                        "finished files are not repeated."
                    )
                raise KnowledgeBaseError("No finished files are waiting to be published: build first.")
            targets = {target.path: target for target in self._catalog.targets()}
            targets.update({target.path: target for target in staged})
            builder = self._builder(threading.Event())
            return builder.publish_only(list(targets.values()), state.next_generation or state.generation)

    def _publishable(self) -> list[Target]:
        """Staged files, unless publishing them would mix them with files of another fingerprint."""
        state = self._catalog.state()
        current = self._fingerprint()
        building = state.next_fingerprint or state.fingerprint
        if building != current or (state.fingerprint != current and self._catalog.files()):
            return []
        return self._catalog.staged()

    def _fingerprint(self) -> str:
        """What the next build makes the index with."""
        published = self._catalog.state().fingerprint
        return index_fingerprint(self._embedder, parser_name(self._mineru_version, published))

    def _builder(self, cancel: threading.Event) -> Builder:
        return Builder(
            self._files_dir,
            self._chroma_dir,
            self._catalog,
            self._embedder,
            self._fingerprint(),
            self._mineru,
            self._hasher,
            self._parse_timeout,
            self._ocr,
            self._ocr_cache,
            self._writable,
            self._published,
            cancel,
            dict(self._passwords),
        )

    # --- asking -------------------------------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """One version to ask, whatever is built meanwhile. Raises EmptyIndexError, IndexMismatchError."""
        if not self._catalog.path.exists():
            raise EmptyIndexError(_NOTHING)
        with hold(snapshots_lock(self._chroma_dir)):
            connection, state, opened = self._pin()
            try:
                yield Snapshot(connection, state, opened.store)
            finally:
                connection.close()
                self._release(state.generation, opened)

    def _pin(self) -> tuple[sa.Connection, State, _Open]:
        """A read transaction on the newest version, and the open store of its generation."""
        for _ in range(5):
            connection = self._catalog.engine.connect()
            try:
                state = read_state(connection)
                if not live_passages(connection):
                    raise EmptyIndexError(
                        "Nothing is indexed yet: put PDFs into the folder and build the knowledge base."
                    )
                if state.embedding != self._embedder.fingerprint:
                    raise IndexMismatchError(_mismatch(state.embedding, self._embedder.fingerprint, self._notice))
                return connection, state, self._acquire(state)
            except VectorStoreGoneError:
                connection.close()  # a newer generation was published in between
            except BaseException:
                connection.close()
                raise
        raise VectorStoreGoneError("The folder of the vectors is missing: build the knowledge base again.")

    def _acquire(self, state: State) -> _Open:
        with self._lock:
            opened = self._stores.get(state.generation)
            if opened is not None and not opened.store.in_place():  # started over meanwhile, perhaps under its name
                self._close_store(state.generation)
                opened = None
            if opened is None:
                store = VectorStore(generation_folder(self._chroma_dir, state.generation))
                opened = self._stores[state.generation] = _Open(store)
            opened.readers += 1
            return opened

    def _release(self, generation: int, opened: _Open) -> None:
        with self._lock:
            opened.readers -= 1
            if not opened.readers and generation < max(self._stores) and self._stores.get(generation) is opened:
                self._close_store(generation)

    def _close_store(self, generation: int) -> None:
        """Closes a generation that nobody reads here; only a build, which holds the writer lock, deletes folders."""
        self._stores.pop(generation).store.close()

    def _writable(self, generation: int, create: bool) -> VectorStore:
        with self._lock:
            opened = self._stores.get(generation)
            if opened is None or not opened.store.in_place():
                if opened is not None:
                    opened.store.close()
                store = VectorStore(generation_folder(self._chroma_dir, generation), create=create)
                opened = self._stores[generation] = _Open(store)
            return opened.store

    def _published(self, state: State) -> None:
        """Older generations close unless they are read."""
        with self._lock:
            for generation in [g for g in self._stores if g < state.generation]:
                if not self._stores[generation].readers:
                    self._close_store(generation)

    # --- KnownVectors (crag.evaluator.base) ----------------------------------------------------------------------

    def load(self, documents: Sequence[Document]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors of documents and strips by id. A document's covers its heading and text."""
        strips = {strip.id for document in documents for strip in document.strips}
        passages = {document.id for document in documents}
        return self._catalog.load_vectors(passages, strips, self._embedder.fingerprint)

    def save(self, content: str, strips: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Keeps vectors of strips of one content (sha256); passed over where it is no longer indexed."""
        self._catalog.save_strips(content, self._embedder.fingerprint, dict(strips))

    def own_vectors(self, embedder: Embedder) -> OwnVectors:
        """The same for an evaluator whose embedding is not that of the index: kept beside it."""
        return OwnVectors(self._catalog, embedder)

    def close(self) -> None:
        """Closes files; open snapshots end first."""
        self.pages.close()
        with self._lock:
            for opened in self._stores.values():
                opened.store.close()
            self._stores.clear()
        self._catalog.close()


def _mismatch(built: str, chosen: str, notice: str | None) -> str:
    """What a question is told where the index is another embedding's."""
    before, after = model_told(built), model_told(chosen)
    models = f" ({before}, and {after} is chosen)" if before != after else ""
    cause = f" {notice}" if notice else ""
    return (
        f"The index was built with another embedding model{models}: build the knowledge base again, or choose the "
        f"model it was built with.{cause}"
    )


def _unlink(entry: Entry) -> None:
    """Of the folder's own listing, so it leads nowhere else. A folder that is called like a PDF stays."""
    if entry.real.is_dir() and not entry.real.is_symlink():
        raise KnowledgeBaseError(f"{entry.path} is a folder: delete it yourself if nothing in it is needed.")
    try:
        entry.real.unlink(missing_ok=True)
    except OSError as error:
        raise KnowledgeBaseError(
            f"{entry.path} cannot be deleted ({error.strerror or error}): close it where it is open, or correct the "
            "permissions of its folder. Nothing has changed."
        ) from None
