"""Two small datasets with every fault in known numbers, and the recipe that makes a corpus of them."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HOSTILE = "<script>alert('x')</script> | **bold** & `code` [link](x)"  # too short for the rules: a sample of the report

# What becomes of the records: those of a lie in a JSONL file, those of b in a Parquet file.
EXPECTED = {
    "a": {
        "unreadable": 1,
        "null": 1,
        "empty": 1,
        "filtered": 4,
        "removed_within": 3,
        "removed_across": 0,
        "written": 24,
    },
    "b": {
        "unreadable": 0,
        "null": 1,
        "empty": 0,
        "filtered": 2,
        "removed_within": 1,
        "removed_across": 6,
        "written": 20,
    },
}


def texts(count: int, seed: int) -> list[str]:
    """Texts of 60 to 90 words that share no shingle with one another."""
    random_words = random.Random(seed)
    letters = "abcdefghijklmnoprstuvw"
    vocabulary = ["".join(random_words.choices(letters, k=random_words.randint(3, 8))) for _ in range(2000)]
    return [" ".join(random_words.choices(vocabulary, k=random_words.randint(60, 90))) for _ in range(count)]


def write_small(folder: Path) -> dict[str, Any]:
    """Writes the inputs below the folder and gives the recipe, whose output is `run` beside them."""
    ours, theirs = texts(24, seed=1), texts(20, seed=2)
    a = [*ours, ours[0], ours[1], f"{ours[2]} indeed", HOSTILE, "too short", "7 " * 50, "1234 5678 " * 30, None, " \n "]
    b = [*theirs, *ours[3:8], f"{ours[8]} indeed", theirs[0], "also short", "99 " * 40, None]
    lines = [json.dumps({"id": f"a{number}", "text": text}) for number, text in enumerate(a)]
    lines.insert(5, '{"id": "broken", "text": ')
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    licenses = ["CC-BY-4.0", "CC0-1.0"]
    columns = {"content": b, "key": list(range(len(b))), "terms": [licenses[at % 2] for at in range(len(b))]}
    pq.write_table(pa.table(columns), folder / "b.parquet")
    return {
        "name": "small",
        "datasets": [
            {"name": "a", "path": str(folder / "a.jsonl"), "id": "id", "license": "CC0-1.0"},
            {
                "name": "b",
                "path": str(folder / "b.parquet"),
                "text": "content",
                "id": "key",
                "license": {"column": "terms"},
            },
        ],
        "filters": [
            {"signal": "n_words", "min": 20},
            {"signal": "zyda.fraction_numerical", "max": 0.2},
            {"signal": "zyda.mean_word_length", "max": 12},
        ],
        "tokenizer": {"train": {"vocab_size": 300}},
        "output": {"path": str(folder / "run")},
    }
