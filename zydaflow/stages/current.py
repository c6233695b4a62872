"""The commit records that the present recipe stands on, among all that an output folder may hold."""

from collections.abc import Iterator

from zydaflow.provenance.commits import Record, Store
from zydaflow.recipe import Recipe
from zydaflow.stages import cluster, count, decide, evidence, gather, keys, match, select, tokenize, train
from zydaflow.stages import manifest as manifests
from zydaflow.stages.manifest import Manifest


def numbered(store: Store, manifest: Manifest) -> Iterator[Record]:
    """The documents' numbers."""
    yield from _present(manifests.record_of(store, manifest))


def matched(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Record]:
    """Keys and candidate edges."""
    if recipe.dedup:
        yield from keys.records(store, recipe, manifest)
        fp = match.match_fingerprint(recipe, manifest)
        for name in match.match_names(recipe, manifest):
            yield from _present(store.find("match", name, fp))


def decided(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Record]:
    """Clusters, decisions, and which documents go to which output shard."""
    if recipe.dedup:
        yield from _present(cluster.record_of(store, recipe, manifest))
        if recipe.dedup.verify == "exact":
            yield from gather.records(store, recipe, manifest)
        yield from decide.records(store, recipe, manifest)
    for dataset in range(len(manifest.datasets)):
        yield from _present(select.record_of(store, recipe, manifest, dataset))


def tokenized(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Record]:
    """The corpus, and the tokens of what is not in it."""
    yield from _present(train.record_of(store, recipe, manifest))
    tokenizer = train.tokenizer_of(store, recipe, manifest)
    assert not tokenize.units(store, recipe, manifest, "", tokenizer), "some of the corpus is not written"
    assert not count.units(store, recipe, manifest, "", tokenizer), "some tokens are not counted"
    yield from tokenize.records(store, recipe, manifest, tokenizer)
    for _, record in count.records(store, recipe, manifest, tokenizer):
        yield record


def shown(store: Store, recipe: Recipe, manifest: Manifest) -> Iterator[Record]:
    """The evidence."""
    yield from _present(evidence.record_of(store, recipe, manifest))


def _present(record: Record | None) -> Iterator[Record]:
    if record is not None:
        yield record
