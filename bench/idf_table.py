"""Writes crag/data/idf.tsv.gz: in how many texts each English word (cut to 6 letters) and Chinese bigram stands.

    python -m bench.idf_table --data DIR

DIR holds grader_train.jsonl and xquad_paragraphs_{en,zh}.jsonl. Each different passage counts once; words of one
text only are left out. First line: `texts`, number of English texts, of Chinese ones; then `df TAB words`.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter, defaultdict
from pathlib import Path

from bench._xquad import data_argument, paragraphs, read_jsonl
from crag.idf import words_of
from crag.text import language

TARGET = Path(__file__).resolve().parent.parent / "crag" / "data" / "idf.tsv.gz"


def table(texts: set[str]) -> bytes:
    """The table as text, the same for the same texts."""
    df: Counter[str] = Counter()
    count = Counter(language(text) for text in texts)
    for text in texts:
        df.update(words_of(text))
    by_df: dict[int, list[str]] = defaultdict(list)
    for word, n in df.items():
        if n >= 2:
            by_df[n].append(word)
    lines = [f"texts\t{count['en']}\t{count['zh']}"]
    lines += [f"{n}\t{' '.join(sorted(by_df[n]))}" for n in sorted(by_df)]
    return "\n".join(lines).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    data = parser.parse_args().data
    texts = {row["passage"] for row in read_jsonl(data / "grader_train.jsonl")}
    texts |= {paragraph.text for lang in ("en", "zh") for paragraph in paragraphs(data, lang)}
    packed = gzip.compress(table(texts), 9, mtime=0)
    TARGET.write_bytes(packed)
    print(f"{TARGET}: {len(texts)} texts, {len(packed)} bytes")


if __name__ == "__main__":
    main()
