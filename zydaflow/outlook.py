"""What a run would do, as text for a terminal: `zydaflow plan`. Starts no Ray, and reads no documents unless asked."""

from collections.abc import Iterator

from zydaflow import dedup, filters, tokens
from zydaflow.filters import AnyRule, Composite
from zydaflow.provenance.commits import Store
from zydaflow.provenance.made_of import choices, last_part
from zydaflow.provenance.numbers import megabytes
from zydaflow.recipe import DatasetSpec, DedupSpec, Recipe, TrainSpec
from zydaflow.signals import metadata
from zydaflow.signals.scores import PREFIX
from zydaflow.stages.extend import refuse_another
from zydaflow.stages.match import split
from zydaflow.stages.plan import Plan, check, check_output, disk_needed, is_finished, plan
from zydaflow.stages.reuse import reusable
from zydaflow.storage import is_url

BAR = 40  # characters of a bar that stands for 100 %


def render(recipe: Recipe, measure: bool = False) -> str:
    """Checks the recipe and its inputs, then tells what a run would do; with `measure` also what to expect of it.

    Raises RecipeError and InputError for all that can be wrong before text is read.
    """
    planned = plan(recipe)
    warnings = check(recipe)
    check_output(planned)
    refuse_another(recipe)
    parts = [_head(planned), _datasets(planned), *_rules(recipe), _stages(recipe)]
    if recipe.dedup:
        parts.append("\n".join(_bands(recipe.dedup)))
    parts += [f"warning: {warning}" for warning in warnings]
    parts.append("\n".join(_reuse(planned)))
    if measure:
        from zydaflow.foresight import foresee  # reads text, with the kernels

        parts.append(foresee(planned))
    return "\n\n".join(parts)


def _head(planned: Plan) -> str:
    need, out = megabytes(disk_needed(planned)), planned.recipe.output.path
    free = "" if is_url(out) else ", which are free"
    return f"{planned.recipe.name} → {out} (needs about {need} of disk{free})"


def _datasets(planned: Plan) -> str:
    rows = [("rank", "dataset", "files", "size", "shards")]
    for rank, dataset in enumerate(planned.datasets, 1):
        size = megabytes(sum(file.size for file in dataset.files))
        rows.append((str(rank), dataset.dataset, f"{len(dataset.files):,}", size, f"{len(dataset.shards):,}"))
    files = sum(len(dataset.files) for dataset in planned.datasets)
    rows.append(("", "all", f"{files:,}", megabytes(planned.bytes), f"{len(planned.shards):,}"))
    width = max(len(row[1]) for row in rows)
    return "\n".join(f"{a:>4}  {b:<{width}}  {c:>7} {d:>10} {e:>7}" for a, b, c, d, e in rows)


def _rules(recipe: Recipe) -> Iterator[str]:
    """What happens to the text of each dataset; datasets that are treated alike together."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for dataset in recipe.datasets:
        alike.setdefault(tuple(_treatment(recipe, dataset)), []).append(dataset.name)
    for treatment, names in alike.items():
        yield "\n".join([", ".join(names), *treatment])


def _treatment(recipe: Recipe, dataset: DatasetSpec) -> Iterator[str]:
    if dataset.sample < 1:
        yield f"  sample     {dataset.sample:.4g} of the documents"
    yield f"  transform  {', '.join(recipe.transform_of(dataset)) or 'none: the text stays byte for byte'}"
    bounds: dict[str, list[str]] = {}
    for rule in filters.resolve(recipe, dataset):
        about = f"{rule.name}:" if isinstance(rule, Composite) else metadata.column(rule.signal) or rule.signal
        bounds.setdefault(about, []).append(_kept(rule))
    lines = [f"{about} {', '.join(tests)}" for about, tests in bounds.items()]
    for number, line in enumerate(lines or ["every document that has a text"]):
        yield f"  {'keeps' if number == 0 else '':<9}  {line}"


def _kept(rule: AnyRule) -> str:
    """What a rule keeps; a composite that removes what breaks all of its rules keeps what any of them keeps."""
    if isinstance(rule, Composite):
        parts = [_kept(part) if isinstance(part, Composite) else f"{part.signal} {_kept(part)}" for part in rule.parts]
        return f"({(' and ' if rule.test == 'any' else ' or ').join(parts)})"
    languages = f" in {', '.join(rule.only)}" if rule.only else f" but in {', '.join(rule.but)}" if rule.but else ""
    if isinstance(rule.bound, tuple):
        return f"{'one' if rule.test == 'allow' else 'none'} of {', '.join(rule.bound)}{languages}"
    return f"{'≥' if rule.test == 'min' else '≤'} {rule.bound:g}{languages}"


def _stages(recipe: Recipe) -> str:
    sketched = ", signatures" if recipe.dedup else ""
    lines = ["stages", *_scorers(recipe), f"  measure    raw records → signals, verdicts, kept text{sketched}"]
    if recipe.dedup:
        lines.append(f"  match      signatures → candidate pairs, {_compared(recipe.dedup)}")
    lines.append(f"  decide     {_decision(recipe.dedup)}")
    lines += [f"             {choice}" for choice in choices(recipe, recipe.dedup)] if recipe.dedup else []
    lines.append(f"  tokenize   {_tokenizer(recipe)}; output shards of {megabytes(recipe.output.shard_text)} of text")
    shown = "evidence, statistics" if recipe.dedup else "statistics"
    return "\n".join([*lines, f"  account    {shown}, report, dataset card"])


def _scorers(recipe: Recipe) -> Iterator[str]:
    for number, (name, spec) in enumerate(recipe.scorers.items()):
        gpus = f" and {spec.gpus:g} GPUs" if spec.gpus else ""
        pool = f"{spec.actors} × (a core, {megabytes(spec.memory)}{gpus})"
        yield f"  {'' if number else 'score':<9}  raw records → {PREFIX}{name} by {last_part(spec.function)}; {pool}"


def _compared(spec: DedupSpec) -> str:
    return " and ".join([*spec.passes, *(["against indexes"] if spec.against else [])]) or "of equal values alone"


def _decision(spec: DedupSpec | None) -> str:
    if spec is None:
        return "no deduplication: every kept document stays"
    if spec.verify == "none":
        return "of each group of linked documents the one of the best rank stays; nothing is verified"
    measure = "estimated from signatures" if spec.verify == "signature" else "of shingle sets, exact"
    return f"a document goes if one that stays is similar by {spec.threshold:g} or more ({measure})"


def _tokenizer(recipe: Recipe) -> str:
    if recipe.tokenizer is None:
        return "no tokens, text alone"
    if isinstance(recipe.tokenizer, TrainSpec):
        size = recipe.tokenizer.train.vocab_size
        return f"by a byte-level BPE of {size:,} tokens, trained on a sample of what stays"
    model = tokens.load(recipe.tokenizer)
    ids = f"{model.vocab_size:,} ids as {model.dtype}, documents end with {model.end_of_text_token}"
    return f"by {model.path} ({ids}; {model.backend})"


def _bands(spec: DedupSpec) -> Iterator[str]:
    bands, rows = split(spec)
    shingles = f"{spec.shingle.size} {spec.shingle.unit}{'s' if spec.shingle.size > 1 else ''}"
    yield f"bands: {bands} × {rows} of {spec.permutations} values, over shingles of {shingles}"
    yield "  similarity of a pair, and its chance to become a candidate:"
    points = {*dedup.curve(bands, rows)[2::2], (spec.threshold, dedup.probability(spec.threshold, bands, rows))}
    for similarity, found in sorted(points):
        mark = "  ← threshold" if similarity == spec.threshold else ""
        yield f"  {similarity:<5.4g} {found:7.2%}  {'#' * round(found * BAR)}{mark}".rstrip()


def _reuse(planned: Plan) -> Iterator[str]:
    store = Store(planned.recipe.output.path)
    if is_finished(planned):
        yield "This run is finished: nothing is left to do."
        return
    found = [step for step in reusable(store, planned) if step.done]
    yield "done already, and reused by a run:" if found else "done already: nothing"
    for step in found:
        unit = "shards" if step.stage.startswith((PREFIX, "measure", "judge", "keep", "sketch")) else "units"
        yield f"  {step.stage:<9}  {step.done:,} of {step.units:,} {unit}"
