"""The answer to `zydaflow dedup whatif` as tables for a terminal."""

from collections.abc import Iterator
from typing import Any

from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.outcomes import DUPLICATES

Json = dict[str, Any]
ALL = "all datasets"


def render(answer: Json) -> str:
    """What would stay, what would go, and for which datasets' documents; `answer` is that of `what_if.whatif`."""
    datasets, losses = answer["datasets"], answer["losses"]
    width = max(len(name) for name in (*datasets, *(to for of in losses.values() for to in of), ALL, "lost by"))
    tables = [_stays(datasets, width), _goes(datasets, width)]
    if losses:
        tables.append(_losses(losses, width))
    return "\n\n".join(["\n".join(table) for table in tables] + ["\n".join(_notes(answer))])


def _stays(datasets: Json, width: int) -> Iterator[str]:
    yield f"{'stays':<{width}} {'now':>12} {'then':>12} {'change':>12} {'text now':>10} {'text then':>10}"
    for name, of in _with_total(datasets):
        now, then = of["now"], of["then"]
        change = then["documents"] - now["documents"]
        yield (
            f"{name:<{width}} {now['documents']:>12,} {then['documents']:>12,} {change:>+12,} "
            f"{megabytes(now['bytes']):>10} {megabytes(then['bytes']):>10}"
        )


def _goes(datasets: Json, width: int) -> Iterator[str]:
    kinds = [outcome.removeprefix("removed_") for outcome in DUPLICATES]
    yield " ".join([f"{'goes then':<{width}}", *(f"{kind:>12}" for kind in kinds)])
    for name, of in _with_total(datasets):
        yield " ".join([f"{name:<{width}}", *(f"{of['removed'][outcome]['documents']:>12,}" for outcome in DUPLICATES)])


def _losses(losses: Json, width: int) -> Iterator[str]:
    yield f"{'lost by':<{width}} {'to':<{width}} {'documents':>12} {'text':>10}"
    for name, of in losses.items():
        for to, by_outcome in of.items():
            documents, size = (sum(count[unit] for count in by_outcome.values()) for unit in ("documents", "bytes"))
            yield f"{name:<{width}} {to:<{width}} {documents:>12,} {megabytes(size):>10}"


def _with_total(datasets: Json) -> Iterator[tuple[str, Json]]:
    """The datasets, and where there are several, their sum."""
    yield from datasets.items()
    if len(datasets) > 1:
        yield ALL, _added(list(datasets.values()))


def _added(counts: list[Any]) -> Any:
    if isinstance(counts[0], dict):
        return {key: _added([count[key] for count in counts]) for key in counts[0]}
    return sum(counts)


def _notes(answer: Json) -> Iterator[str]:
    bands, rows = answer["bands"]
    yield f"Decided by signatures (verify: signature), cut into {bands} × {rows} bands."
    if answer["verify"] == "exact":
        yield (
            f"The run verifies exactly. Without text, {answer['comparisons_in_doubt']:,} of the comparisons then are "
            "undecided: their signatures agree to within three standard errors of the threshold."
        )
    if answer["verify"] == "none":
        yield "The run took whole components (passes: [joint]); then, each removal is verified, within and across."
