"""The dataset card: `corpus/README.md`, which says what the corpus is, where it is from, and how to make it again.

It follows from the recipe and the statistics alone: no date, no machine, and no folder of the machine is in it.
"""

from typing import Any

from zydaflow.provenance import made_of
from zydaflow.provenance.card.columns import columns
from zydaflow.provenance.card.markdown import fenced, table, text
from zydaflow.provenance.card.portable import portable_yaml
from zydaflow.provenance.figures import outcomes_met, ranked, share, tokens
from zydaflow.provenance.numbers import megabytes
from zydaflow.provenance.told_alarms import alarm_lines
from zydaflow.recipe import ColumnRef, DatasetSpec, Recipe
from zydaflow.recipe.yamltext import write_yaml

Json = dict[str, Any]

AMOUNTS = ("documents", "text", "tokens")
LOAD = """\
from datasets import concatenate_datasets, load_from_disk

one = load_from_disk("corpus/{first}")  # memory-mapped: nothing is copied
every = concatenate_datasets([load_from_disk(f"corpus/{{name}}") for name in {names}])"""


def render(statistics: Json, recipe: Recipe) -> str:
    """The card as Markdown: the contents of `statistics.json`, and the recipe that led to them."""
    parts = [
        f"---\n{write_yaml(_front(recipe))}---",
        f"# {recipe.name}",
        _summary(statistics),
        "## Composition and licences",
        _composition(statistics, recipe),
        "## What became of the documents",
        _waterfall(statistics),
        *_warnings(statistics),
        "## Overlap between the datasets",
        _overlap(statistics, recipe),
        "## How to load it",
        _loading(recipe),
        "## Columns",
        table(["column", "type", "meaning"], columns(recipe)),
        "## How it was made, and how to make it again",
        *_making(recipe),
    ]
    return "\n\n".join(parts) + "\n"


def _front(recipe: Recipe) -> Json:
    """What the hub reads: licences, names, tags, and a configuration for each dataset."""
    return {
        "pretty_name": recipe.name,
        "license": sorted({_license_id(dataset) for dataset in recipe.datasets}),
        "tags": ["zydaflow", *(["deduplicated"] if recipe.dedup else []), *(["tokenized"] if recipe.tokenizer else [])],
        "task_categories": ["text-generation"],
        "configs": [{"config_name": d.name, "data_files": f"{d.name}/data-*.arrow"} for d in recipe.datasets],
    }


def _license_id(dataset: DatasetSpec) -> str:
    if isinstance(dataset.license, ColumnRef):
        return "other"
    return dataset.license.lower() if dataset.license else "unknown"


def _summary(statistics: Json) -> str:
    read, written = statistics["total"]["read"], statistics["total"]["outcomes"]["written"]
    count = f", {tokens(written)} tokens" if tokens(written) else ""
    datasets = "one dataset" if len(statistics["datasets"]) == 1 else f"{len(statistics['datasets'])} datasets"
    said = (
        f"{written['documents']:,} documents, {megabytes(written['bytes'])} of text{count}: what is left of "
        f"{read['documents']:,} documents of {datasets} after filtering and deduplication."
    )
    return said if statistics["finished"] else f"{said} The run stopped before its end, so the corpus is not whole."


def _composition(statistics: Json, recipe: Recipe) -> str:
    specs = {spec.name: spec for spec in recipe.datasets}
    whole = statistics["total"]["outcomes"]["written"]["bytes"]
    rows = []
    for name, dataset in ranked(statistics):
        written = dataset["outcomes"]["written"]
        size = [megabytes(written["bytes"]), share(written["bytes"], whole), tokens(written)]
        rows.append([name, made_of.licence(specs[name]), f"{written['documents']:,}", *size])
    return table(["dataset, by rank", "licence", "documents", "text", "of the text", "tokens"], rows)


def _waterfall(statistics: Json) -> str:
    met = outcomes_met(statistics)
    rows = []
    total = [("all datasets", statistics["total"])] if len(statistics["datasets"]) > 1 else []
    for name, dataset in [*ranked(statistics), *total]:
        read = dataset["read"]
        counts = [_count(dataset["outcomes"][outcome], read["documents"]) for outcome in met]
        rows.append([name, f"{read['documents']:,}, {megabytes(read['bytes'])}", *counts])
    head = ["dataset", "read", *(outcome.replace("_", " ") for outcome in met)]
    return f"{table(head, rows)}\n\nDocuments, their share of those read, and the bytes of their text as loaded."


def _count(count: Json, read: int) -> str:
    if not count["documents"]:
        return "0"
    return f"{count['documents']:,} ({share(count['documents'], read)}), {megabytes(count['bytes'])}"


def _warnings(statistics: Json) -> list[str]:
    lines = [f"- {dataset}: {text(what)}" for dataset, what in alarm_lines(statistics)]
    return ["Warnings of the run:", "\n".join(lines)] if lines else []


def _overlap(statistics: Json, recipe: Recipe) -> str:
    if not statistics["losses"]:
        return "No document was removed as a duplicate." if recipe.dedup else made_of.deduplication(recipe)
    lost = table(["removed from", "kept in", *AMOUNTS], _pairs(statistics, "losses"))
    if not statistics["matches"]:
        return lost
    alike = table(["documents of", "similar to some of", *AMOUNTS], _pairs(statistics, "matches"))
    return f"{lost}\n\nHow alike the datasets are at least, whichever document stays:\n\n{alike}"


def _pairs(statistics: Json, counts: str) -> list[list[str]]:
    """A row for each dataset and what it has to do with, both by rank, and indexes last."""
    ranks = {name: at for at, (name, _) in enumerate(ranked(statistics))}
    pairs = [(name, to, count) for name, of in statistics[counts].items() for to, count in of.items()]
    pairs.sort(key=lambda pair: (ranks[pair[0]], ranks.get(pair[1], len(ranks)), pair[1]))
    return [
        [name, to, f"{count['documents']:,}", megabytes(count["bytes"]), tokens(count)] for name, to, count in pairs
    ]


def _loading(recipe: Recipe) -> str:
    names = [dataset.name for dataset in recipe.datasets]
    return fenced(LOAD.format(first=names[0], names=names), "python")


def _making(recipe: Recipe) -> list[str]:
    facts = [
        *(f"Filters of {spec.name}: {made_of.filters(recipe, spec)}." for spec in recipe.datasets),
        *filter(None, [made_of.language(recipe), made_of.classifiers(recipe)]),
        made_of.deduplication(recipe),
        f"Tokenizer: {made_of.tokenizer(recipe)}.",
        f"Versions: {', '.join(f'{name} {version}' for name, version in made_of.versions().items())}.",
    ]
    return [
        "\n".join(f"- {text(fact)}" for fact in facts),
        "This recipe gives the same corpus from the same input with `zydaflow run recipe.yaml`. "
        "Of local paths it has only the last part.",
        fenced(portable_yaml(recipe), "yaml"),
    ]
