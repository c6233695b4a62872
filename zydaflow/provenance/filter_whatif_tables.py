"""The answer to `zydaflow filter whatif` as tables for a terminal."""

from collections.abc import Collection, Iterator
from typing import Any

from zydaflow.filters import merge
from zydaflow.provenance.columns import aligned
from zydaflow.provenance.figures import tokens
from zydaflow.provenance.filter_whatif import CASES
from zydaflow.provenance.numbers import megabytes

Json = dict[str, Any]
ALL = "all datasets"
BOUND = 24  # characters of a bound; more of a list of labels helps nobody


def render(answer: Json) -> str:
    """What would stay, and what each rule would remove; `answer` is that of `filter_what_if.filter_whatif`."""
    datasets = answer["datasets"]
    rows, rules = datasets, {name: of for name, of in datasets.items() if of["removes"] or of["dropped"]}
    if len(datasets) > 1:
        rows, rules = {**datasets, ALL: answer["total"]}, {**rules, ALL: _together(datasets)}
    about = [*answer["estimated"], ALL] if answer["estimated"] else []
    tables = [_stays("rules leave", "rules", rows, []), _stays("corpus", "corpus", rows, about)]
    tables += [_removes(name, of) for name, of in rules.items()]
    return "\n\n".join([*tables, "\n".join(_notes(answer))])


def _stays(title: str, part: str, datasets: Json, estimated: Collection[str]) -> str:
    rows = [(title, "now", "then", "change", "text now", "text then", "tokens now", "tokens then")]
    for name, of in datasets.items():
        now, then = of[part]["now"], of[part]["then"]
        about = "≈ " if name in estimated else ""
        documents = (f"{now['documents']:,}", f"{about}{then['documents']:,}")
        change = f"{then['documents'] - now['documents']:+,}"
        text = (megabytes(now["bytes"]), about + megabytes(then["bytes"]))
        rows.append((name, *documents, change, *text, tokens(now), tokens(then)))
    return aligned(rows)


def _removes(name: str, of: Json) -> str:
    """The rules that remove something, or have another bound than they had."""
    shown = {rule: told for rule, told in of["removes"].items() if told["at_all"]["documents"] or told.get("was")}
    rows: list[tuple[str, ...]] = [
        (f"{name}: rules", "keeps", "was", "at all", "first", "alone", "text alone", "tokens alone")
    ]
    for rule, told in shown.items():
        was = (told["was"] or "not there") if "was" in told else ""
        counts = (f"{told[case]['documents']:,}" for case in CASES)
        alone = (megabytes(told["alone"]["bytes"]), tokens(told["alone"]))
        rows.append((f"  {rule}", _cut(told["keeps"]), _cut(was), *counts, *alone))
    rows += [(f"  {rule}", "dropped", _cut(was), *[""] * 5) for rule, was in of["dropped"].items()]
    idle = len(of["removes"]) - len(shown)
    return aligned(rows, left=3) + (f"\n  ({idle} more, which no document breaks)" if idle else "")


def _cut(text: str) -> str:
    return text if len(text) <= BOUND else f"{text[: BOUND - 1]}…"


def _together(datasets: Json) -> Json:
    """What each rule would remove from all datasets; what only some of them have said to be `by dataset`."""
    removes: Json = {}
    dropped: Json = {}
    for of in datasets.values():
        dropped |= of["dropped"]
        for rule, told in of["removes"].items():
            removes[rule] = _added(removes[rule], told) if rule in removes else told
    return {"removes": removes, "dropped": dropped}


def _added(one: Json, other: Json) -> Json:
    added: Json = {case: merge(one[case], other[case]) for case in CASES}
    for key in ("keeps", "was"):
        if key in one or key in other:
            added[key] = one[key] if one.get(key) == other.get(key) else "by dataset"
    return added


def _notes(answer: Json) -> Iterator[str]:
    yield (
        "At all: what a rule would remove if it were the only one. First: what no rule before it removes.\n"
        "Alone: what no other rule removes, and so what would stay without it."
    )
    parts = [of[part]["then"] for of in answer["datasets"].values() for part in ("rules", "corpus")]
    yield "Documents and text that the rules leave are exact."
    if any("tokens_estimated" in part for part in parts):
        yield "Tokens with ≈ are estimated by the tokens per byte of each dataset's corpus, or else of all."
    if answer["estimated"]:
        yield (
            "The corpus then is estimated: of each dataset deduplication leaves the same share of what the rules leave "
            "as now."
        )
    yield from answer["notes"]
