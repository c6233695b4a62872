"""Times `filter whatif` and `stats --by domain` over made-up signals, beside the same counts with pandas.

    python tests/benchmarks/whatif.py [DOCUMENTS]

The signals are those of the rule set zyda, drawn at random about the bounds. The counts must be the same.
"""

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from zydaflow import filter_whatif, load_recipe, open_run
from zydaflow.filters import Rule, resolve
from zydaflow.provenance.domains import by_domain
from zydaflow.provenance.outcomes import OUTCOMES
from zydaflow.provenance.run_file import KEYS
from zydaflow.provenance.tables import ROW_GROUP
from zydaflow.recipe import dump_recipe
from zydaflow.signals import SIGNALS

DOMAINS = 100_000
PART = 2**18  # documents in a file: 256 MB of them at a thousand bytes


def rules_of(change: float) -> list[Rule]:
    """The rules of the set, one of them at another bound."""
    recipe = load_recipe({"name": "x", "datasets": [{"name": "web", "path": "x"}], "filters": ["zyda"]})
    rules = [rule for rule in resolve(recipe, recipe.datasets[0]) if isinstance(rule, Rule)]
    name = "zyda.mean_word_length.max"
    return [Rule(name, rule.signal, "max", change) if rule.name == name else rule for rule in rules]


def rows(count: int, rng: np.random.Generator, first: int) -> pa.Table:
    """Documents, each rule broken by some 3 % of them."""
    columns = {
        "file": pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array(["web.jsonl"])),
        "position": pa.array(np.arange(first, first + count)),
        "bytes": pa.array(rng.integers(100, 9000, count)),
        "verdict": pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), pa.array(["kept"])),
        "url.domain": pa.array(np.char.mod("site%d.example", rng.zipf(1.3, count) % DOMAINS)),
    }
    for rule in rules_of(12):
        signal, bound = SIGNALS[rule.signal], float(rule.bound)  # type: ignore[arg-type]
        low, high = (bound * 0.97, bound * 2) if rule.test == "min" else (0, bound * 1.03)
        columns[rule.signal] = pa.array(rng.uniform(low, high, count)).cast(signal.type, safe=False)
    return pa.table(columns)


def write(out: Path, count: int) -> None:
    """The folder of a run, as far as the questions look at it."""
    recipe = load_recipe(
        {"name": "web", "datasets": [{"name": "web", "path": "web.jsonl"}], "filters": ["zyda"], "dedup": None}
    )
    (out / "recipe.yaml").write_text(dump_recipe(recipe))
    (out / "signals" / "web").mkdir(parents=True)
    rng, size, outputs = np.random.default_rng(1), 0, []
    for first in range(0, count, PART):
        table = rows(min(PART, count - first), rng, first)
        size += sum(table["bytes"].to_pylist())
        outputs.append([f"signals/web/web-{first:012d}.parquet", 1])
        pq.write_table(table, out / outputs[-1][0], row_group_size=ROW_GROUP, compression="zstd", compression_level=1)
    counted = {"documents": count, "bytes": size}
    outcomes = {outcome: {"documents": 0, "bytes": 0} for outcome in OUTCOMES} | {"written": counted | {"tokens": 0}}
    of = {"read": counted, "outcomes": outcomes}
    statistics = {"finished": True, "datasets": {"web": {"rank": 0, **of}}, "total": of}
    (out / "statistics.json").write_bytes(orjson.dumps(statistics))
    (out / "run.json").write_bytes(orjson.dumps(dict.fromkeys(KEYS) | {"outputs": outputs}))


def with_pandas(out: Path, rules: list[Rule]) -> tuple[int, dict[str, int]]:
    """Documents that stay, and by rule those that break no other."""
    table = pd.read_parquet(out / "signals", columns=["bytes", "verdict", *{rule.signal for rule in rules}])
    table = table[table["verdict"].isin(["kept", "filtered"])]
    broken = pd.DataFrame(
        {
            rule.name: table[rule.signal] < rule.bound if rule.test == "min" else table[rule.signal] > rule.bound
            for rule in rules
        }
    )
    times = broken.sum(axis=1)
    return int((times == 0).sum()), {name: int((broken[name] & (times == 1)).sum()) for name in broken}


def peak() -> float:
    """The most memory that this process had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def timed(what: str, count: int, work: Callable[[], Any]) -> Any:
    """Does it, and prints how long it took."""
    start = time.perf_counter()
    answer = work()
    seconds = time.perf_counter() - start
    print(
        f"{what:<10} {seconds:6.2f} s, {count / seconds / 1e6:.2f} million documents/s, {peak():.2f} GB at most so far"
    )
    return answer


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    with tempfile.TemporaryDirectory(prefix="zydaflow-benchmark-") as folder:
        out = Path(folder)
        write(out, count)
        rules = rules_of(11)
        print(f"{count:,} documents, {len(rules)} rules; after writing them at most {peak():.2f} GB")
        answer = timed("whatif", count, lambda: filter_whatif(out, ["zyda.mean_word_length.max=11"]))
        domains = timed("by domain", count, lambda: by_domain(open_run(out)))
        kept, alone = timed("pandas", count, lambda: with_pandas(out, rules))
        of = answer["datasets"]["web"]
        assert of["rules"]["then"]["documents"] == kept
        assert {name: told["alone"]["documents"] for name, told in of["removes"].items()} == alone
        assert sum(domains["documents"].to_pylist()) == count
        print(f"{kept:,} would stay; {len(domains):,} domains")


if __name__ == "__main__":
    main()
