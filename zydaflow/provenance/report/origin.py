"""What the run was made of."""

from typing import Any
from xml.etree.ElementTree import Element

from zydaflow.provenance import made_of
from zydaflow.provenance.report.markup import element, fold, section, table
from zydaflow.recipe import Recipe, dump_recipe

LEAD = "The same recipe, input and versions give the same corpus, whatever the number of workers."


def part(statistics: dict[str, Any], recipe: Recipe) -> Element:
    """The section."""
    head = ["dataset", "rank", "path", "text", "licence", "transform", "filters", "sample"]
    rows = [
        [
            *(spec.name, str(rank), spec.path + (f" ({spec.split})" if spec.split else ""), spec.text),
            *(made_of.licence(spec), ", ".join(recipe.transform_of(spec)) or "none"),
            *(made_of.filters(recipe, spec), f"{spec.sample:g}"),
        ]
        for rank, spec in enumerate(recipe.datasets, 1)
    ]
    facts = {
        "language": made_of.language(recipe),
        "classifiers": made_of.classifiers(recipe),
        "duplicates": made_of.deduplication(recipe),
        "tokenizer": made_of.tokenizer(recipe),
        "versions": ", ".join(f"{name} {number}" for name, number in made_of.versions().items()),
    }
    told = [part for name, fact in facts.items() if fact for part in (element("dt", name), element("dd", fact))]
    whole = fold("The resolved recipe", element("pre", dump_recipe(recipe)))
    return section("origin", "What the run was made of", LEAD, table(head, rows, "origin"), element("dl", told), whole)
