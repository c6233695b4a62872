"""What was foreseen, as text for a terminal."""

from collections.abc import Iterator, Sequence

from zydaflow.foresight.costs import BAND_KEYS, disk, documents_kept, memory, tokens_per_byte
from zydaflow.foresight.expected import DOCUMENTS, Estimate, Expected, expect
from zydaflow.foresight.pieces import text_in
from zydaflow.foresight.sample import Sampled, take
from zydaflow.provenance.numbers import megabytes
from zydaflow.recipe import Recipe
from zydaflow.stages.keys import about_dates
from zydaflow.stages.plan import Plan
from zydaflow.storage import is_local, on_this_machine, path_of, room

BUDGET = 64_000_000  # bytes of text that are read
LEAST = 0.25  # of an equal share, for a dataset that is small beside the others


def foresee(planned: Plan) -> str:
    """Reads a sample of the input, and tells what to expect of the run, as if no rule on a score removed anything.

    Raises InputError where files cannot be read.
    """
    recipe = planned.recipe.without_scorers()
    sampled = [
        take(recipe, number, dataset, allowance)
        for number, (dataset, allowance) in enumerate(zip(planned.datasets, _allowances(planned), strict=True))
    ]
    expected = expect(recipe, sampled) if recipe.dedup else []
    tokens = [tokens_per_byte(recipe, sample) for sample in sampled]
    parts = [_head(planned, sampled), _datasets(recipe, sampled, tokens), *_scorers(planned.recipe)]
    parts += _dates(recipe, sampled)
    if expected:
        parts.append("\n".join(_pairs(recipe, sampled, expected)))
    return "\n\n".join(
        [*parts, "\n".join(_disk(recipe, sampled, tokens)), "\n".join(_memory(recipe, sampled, expected))]
    )


def _allowances(planned: Plan) -> list[float]:
    """Bytes to be read of each dataset: in proportion to its size, but some of each."""
    sizes = [text_in(dataset) for dataset in planned.datasets]
    least = BUDGET * LEAST / len(sizes)
    return [max(BUDGET * size / max(sum(sizes), 1), least) for size in sizes]


def _whole(sampled: Sequence[Sampled]) -> bool:
    return all(sample.scale == 1 and not sample.unsized for sample in sampled)


def _head(planned: Plan, sampled: Sequence[Sampled]) -> str:
    read = megabytes(sum(sample.bytes for sample in sampled))
    if _whole(sampled):
        return f"measured on the whole input, {read} of text"
    total = megabytes(sum(sample.scale * sample.bytes for sample in sampled))
    lines = [f"measured on a sample: {read} of about {total} of text, from places all over the input"]
    if cut := sum(sample.cut for sample in sampled):
        lines.append(
            f"files or row groups read from the beginning only: {cut:,}; "
            "pairs between datasets written in the same order count too often"
        )
    if unsized := sum(sample.unsized for sample in sampled):
        lines.append(f"files that do not tell their size, and are left out: {unsized:,}")
    return "\n  ".join(lines)


def _datasets(recipe: Recipe, sampled: Sequence[Sampled], tokens: Sequence[float]) -> str:
    rows = [("dataset", "sample", "of it", "kept", "documents kept", "kept text", "tokens")]
    for dataset, sample, rate in zip(recipe.datasets, sampled, tokens, strict=True):
        rows.append(
            (
                dataset.name,
                megabytes(sample.bytes),
                f"{1 / sample.scale:.2g}" if sample.scale > 1 else "all",
                f"{sample.kept / max(sample.read, 1):.1%}",
                about(sample.scale * sample.kept),
                megabytes(sample.scale * sample.kept_bytes),
                about(sample.scale * sample.kept_bytes * rate) if recipe.tokenizer else "",
            )
        )
    width = max(len(row[0]) for row in rows)
    return "\n".join(f"  {row[0]:<{width}}" + "".join(f"{cell:>16}" for cell in row[1:]).rstrip() for row in rows)


def _scorers(recipe: Recipe) -> Iterator[str]:
    if recipe.scorers:
        names = ", ".join(recipe.scorers)
        yield f"scorers are not run here ({names}): what rules on their scores remove is not counted"


def _dates(recipe: Recipe, sampled: Sequence[Sampled]) -> Iterator[str]:
    for dataset, sample in zip(recipe.datasets, sampled, strict=True):
        if unread := sample.unread_dates:
            yield f"warning: {about_dates(dataset.name, len(unread), sample.kept, unread[0])}"


def _pairs(recipe: Recipe, sampled: Sequence[Sampled], expected: Sequence[Expected]) -> Iterator[str]:
    spec, documents = recipe.dedup, sum(len(sample.piece) for sample in sampled)
    whole = _whole(sampled) and documents <= DOCUMENTS
    assert spec is not None
    how = "of shingle sets, exact" if spec.verify == "exact" else "estimated from signatures"
    yield f"  {'pairs of documents':<24}{'expected':>16}{'' if whole else '   in the sample'}"
    for found in expected:
        rows = {"similar": found.similar, "  missed": found.missed}
        rows |= {"candidates": found.candidates, "  false": found.false}
        for number, (name, estimate) in enumerate(rows.items()):
            yield f"  {'' if number else found.link:<10}{name:<14}{_estimate(estimate, whole)}"
    each = about(sum(found.candidates.value for found in expected) / max(documents_kept(sampled), 1))
    yield f"  similar: by {spec.threshold:g} or more ({how}). missed: similar, but sharing no band."
    yield f"  candidates: sharing a band, {each} per kept document. false: candidates that are not similar."
    if whole:
        yield "  Similar pairs are counted; which pairs share a band is chance, so the other numbers are expectations."
    else:
        yield f"  In the sample: among {min(documents, DOCUMENTS):,} documents, every pair of which was compared."
        yield "  ±: the standard error, from how unevenly pairs lie in the places that were read."


def _estimate(estimate: Estimate, whole: bool) -> str:
    if whole or estimate.limit == 0:
        return f"{about(estimate.value):>16}"
    if not estimate.seen:
        return f"{f'under {about(max(estimate.limit, 0.01))}':>16}{'none':>16}"
    return f"{about(estimate.value):>16}{about(estimate.in_sample):>16}   ± {estimate.error / estimate.value:.0%}"


def _disk(recipe: Recipe, sampled: Sequence[Sampled], tokens: Sequence[float]) -> Iterator[str]:
    sizes, documents = disk(recipe, sampled, tokens), max(documents_kept(sampled), 1)
    notes = {BAND_KEYS: ", until the run ends", "corpus": ", if no duplicate is removed"}
    yield f"  {'disk':<24}{'expected':>16}   per kept document"
    for folder, size in sorted(sizes.items()):
        yield f"  {folder:<24}{megabytes(size):>16}   {megabytes(size / documents)}{notes.get(folder, '')}"
    most = sum(sizes.values())
    yield f"  {'left at the end':<24}{megabytes(most - sizes.get(BAND_KEYS, 0)):>16}"
    yield f"  {'at most':<24}{megabytes(most):>16}{_free(recipe, most)}"


def _free(recipe: Recipe, most: float) -> str:
    root = path_of(recipe.output.path)
    if not is_local(root):
        return ""
    free = room(on_this_machine(root))
    return f"   {megabytes(free)} are free{'' if most <= free else ', which is too little'}"


def _memory(recipe: Recipe, sampled: Sequence[Sampled], expected: Sequence[Expected]) -> Iterator[str]:
    limit = recipe.resources.memory_per_task
    yield f"  {'memory of a task':<24}{'expected':>16}   memory_per_task: {megabytes(limit)}"
    for need in memory(recipe, sampled, expected):
        much = need.stage != "measure" and need.bytes > limit
        more = ": more than memory_per_task, so in steps or through files" if much else ""
        yield f"  {need.stage:<24}{megabytes(need.bytes):>16}   grows with {need.grows_with}{more}"


def about(number: float) -> str:
    """A count that is not exact: 0.25, 7.4, 1,234, 3.1 million; below 0.005 it is 0."""
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{number / size:,.1f} {name}"
    return f"{number:,.0f}" if number >= 100 or number < 0.005 else f"{number:.2g}"
