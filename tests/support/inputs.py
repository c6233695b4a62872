"""Small datasets of every form, with duplicates inside and across, and records of every outcome."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

WORDS = [
    a + b
    for a in ["ba", "co", "du", "fi", "ga", "he", "ji", "lo", "mu", "ne", "po", "ri", "su", "ta", "vo"]
    for b in ["lan", "mor", "tis", "ner", "dak", "sel", "pun", "rim"]
]


def prose(rng: random.Random, words: int) -> str:
    """Sentences of made-up words."""
    chosen = [rng.choice(WORDS) for _ in range(words)]
    return " ".join(word.capitalize() + "." if k % 12 == 11 else word for k, word in enumerate(chosen))


def edited(rng: random.Random, text: str, changes: int) -> str:
    """The text with some words replaced."""
    words = text.split()
    for at in rng.sample(range(len(words)), changes):
        words[at] = "edited"
    return " ".join(words)


def datasets(folder: Path, seed: int = 7) -> list[dict[str, Any]]:
    """Writes three datasets into `folder` and returns their recipe entries, in rank order a, b, c."""
    rng = random.Random(seed)
    originals = [prose(rng, rng.randint(60, 400)) for _ in range(60)]
    copies = [originals[k] for k in range(0, 30, 3)]
    near = [edited(rng, originals[k], 3) for k in range(1, 30, 3)]
    a = [*originals[:40], originals[2], edited(rng, originals[5], 2)]
    b = [*originals[40:], *copies, *near]
    c = [prose(rng, 80) for _ in range(20)] + near[:4] + [edited(rng, originals[45], 2), "12345 " * 60, "short"]
    (folder / "a").mkdir(parents=True)
    half = len(a) // 2
    _jsonl(folder / "a" / "part-1.jsonl", [{"id": k, "text": text} for k, text in enumerate(a[:half])], bad=True)
    _jsonl(folder / "a" / "part-0.jsonl", [{"id": 100 + k, "text": text} for k, text in enumerate(a[half:])])
    rows = [json.dumps({"text": text, "url": f"https://b.example/{k}"}) for k, text in enumerate(b)]
    with gzip.open(folder / "b.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(rows))
    table = pa.table({"content": [*c, None, "  \n"], "licence": ["MIT"] * len(c) + [None, "MIT"]})
    pq.write_table(table, folder / "c.parquet", row_group_size=8)
    return [
        {"name": "a", "path": str(folder / "a"), "id": "id", "license": "CC0-1.0"},
        {"name": "b", "path": str(folder / "b.jsonl.gz"), "metadata": ["url"]},
        {"name": "c", "path": str(folder / "c.parquet"), "text": "content", "license": {"column": "licence"}},
    ]


def _jsonl(path: Path, records: list[dict[str, Any]], bad: bool = False) -> None:
    lines = [json.dumps(record) for record in records]
    if bad:
        lines.insert(3, '{"id": 3, "text": "never closed')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def recipe(entries: list[dict[str, Any]], out: Path, **changes: Any) -> dict[str, Any]:
    """A recipe over some entries: short shingles, so that short texts have enough of them, and small shards."""
    return {
        "name": "small",
        "datasets": entries,
        "filters": ["zyda", {"signal": "n_words", "min": 5}],
        "dedup": {"shingle": {"size": 3}, "threshold": 0.5, "bands": 32, "rows": 4},
        "tokenizer": {"train": {"vocab_size": 300}},
        "output": {"path": str(out), "shard_text": "20kB"},
        "resources": {"shard_bytes": "1MB"},
    } | changes
