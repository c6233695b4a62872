"""What the columns of the corpus mean."""

from zydaflow.filters import signals_needed
from zydaflow.recipe import Recipe
from zydaflow.signals import SIGNALS

TOKENS = [
    ("input_ids", "list of uint16, or uint32 for over 65,536 ids", "token ids; the last one is the end of text"),
    ("n_tokens", "int64", "number of token ids"),
]
PROVENANCE = [
    ("source", "string", "dataset"),
    ("source_id", "string", "the document's own id, where the dataset has one"),
    ("source_file", "string", "file, relative to the dataset"),
    ("source_position", "int64", "row in the file, or for JSON Lines the byte offset of the line"),
    ("text_hash", "string", "xxh3-128 of the text as it is here, in hexadecimal digits"),
    ("license", "string", "licence, null where it is not known"),
    ("n_duplicates", "int64", "removed documents that this one stands for"),
    ("duplicate_sources", "list of strings", "the datasets that these are from"),
]
METADATA = ("metadata", "string", "carried columns, as a JSON object")
TEXT = ("text", "large_string", "text, after the dataset's transforms")


def columns(recipe: Recipe) -> list[tuple[str, str, str]]:
    """(name, type, meaning) of each column, in their order."""
    found = [*(TOKENS if recipe.tokenizer else []), *PROVENANCE]
    if any(dataset.carried for dataset in recipe.datasets):
        found.append(METADATA)
    if recipe.output.text:
        found.append(TEXT)
    return [*found, *(_signals(recipe) if recipe.output.signals else [])]


def _signals(recipe: Recipe) -> list[tuple[str, str, str]]:
    names = sorted({name for dataset in recipe.datasets for name in signals_needed(recipe, dataset)})
    return [(name, str(SIGNALS[name].type), SIGNALS[name].specification) for name in names]
