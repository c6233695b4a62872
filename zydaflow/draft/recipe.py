"""A recipe to start from, written from what lies in files and folders: `zydaflow init`."""

from collections.abc import Iterator, Sequence

from zydaflow.draft.survey import Finding, inspect_paths, slug
from zydaflow.errors import InputError
from zydaflow.recipe.yamltext import comment_text, write_scalar

TEXT_NAMES = ("text", "content", "raw_content", "body", "document", "article", "markdown", "code")
ID_NAMES = ("id", "_id", "doc_id", "docid", "document_id", "uuid")
LICENSE_NAMES = ("license", "licence")
METADATA_NAMES = ("url", "source_url", "date", "date_published", "created", "published", "timestamp")

_HEAD = """\
# A recipe for zydaflow, drafted from the first records of each dataset: check the order, the columns and the licences.
name: {name}

# In rank order, the best first: of several copies of a document, the one in the first dataset stays.
datasets:
"""
_TAIL = """
# Rule sets and rules; a dataset may have its own, like filters: [] for source code.
filters: [zyda]

dedup:
  shingle: {{unit: word, size: 13}}
  threshold: 0.4              # the similarity from which a document counts as a duplicate
  passes: [within, across]    # inside each dataset, and between them
  verify: signature           # or exact: slower, and free of chance

# A tokenizer.json, a hub name, or one that is trained on the kept text.
tokenizer: {{train: {{vocab_size: 8192}}}}

output: {{path: runs/{name}}}
"""


def init(paths: Sequence[str], name: str | None = None) -> str:
    """A recipe in YAML for the datasets in `paths`, files or folders; it runs as it stands.

    `name` is the recipe's; by default that of the path, or "corpus" for several. Raises InputError where nothing can
    be read (see `inspect_paths`) or nothing holds text.
    """
    findings = inspect_paths(list(paths))
    if name is None:
        name = findings[0].name if len(findings) == 1 else "corpus"
    return draft_recipe(findings, slug(name))


def draft_recipe(findings: Sequence[Finding], name: str) -> str:
    """The YAML text of a recipe called `name` with one dataset for each finding that has a column of text.

    What was guessed is in comments, and so are the columns and the beginnings of two texts. Raises InputError where no
    finding has a column of text.
    """
    if not any(finding.columns.texts for finding in findings):
        paths = ", ".join(finding.path for finding in findings)
        raise InputError(f"{paths}: no column of text in the first records; there is nothing to build a corpus from")
    lines = [line for finding in findings for line in _dataset(finding)]
    return _HEAD.format(name=write_scalar(name)) + "\n".join(lines) + "\n" + _TAIL.format(name=name)


def _dataset(finding: Finding) -> Iterator[str]:
    columns = ", ".join(f"{comment_text(column)} {kind}" for column, kind in finding.columns.types.items())
    files = f"{finding.files} files" if finding.files > 1 else "1 file"
    yield f"  # {finding.form}, {files}, {finding.bytes / 1e6:,.1f} MB; columns: {columns or 'none'}"
    text = _text_column(finding)
    if text is None:
        yield f"  # left out, since no column holds text in its first records: {comment_text(finding.path)}"
        return
    for sample in finding.columns.texts[text][:2]:
        yield f"  #   {comment_text(sample)}"
    yield f"  - name: {write_scalar(finding.name)}"
    yield f"    path: {write_scalar(finding.path)}"
    if finding.split is not None:
        others = f"  # there are also: {comment_text(', '.join(finding.other_splits))}" if finding.other_splits else ""
        yield f"    split: {write_scalar(finding.split)}{others}"
    guess = "" if text.lower() in TEXT_NAMES else "  # a guess: the column with the longest texts"
    yield f"    text: {write_scalar(text)}{guess}"
    yield from _other_columns(finding, text)


def _other_columns(finding: Finding, text: str) -> Iterator[str]:
    others = [column for column in finding.columns.types if column != text]
    if identity := _first_of(ID_NAMES, others):
        yield f"    id: {write_scalar(identity)}"
    if metadata := [column for column in others if column.lower() in METADATA_NAMES]:
        yield f"    metadata: [{', '.join(map(write_scalar, metadata))}]"
    if licence := _first_of(LICENSE_NAMES, [column for column in others if column in finding.columns.texts]):
        yield f"    license: {{column: {write_scalar(licence)}}}"


def _text_column(finding: Finding) -> str | None:
    """A column of text that has a usual name for it, else the one whose texts are the longest."""
    texts = finding.columns.texts
    longest = sorted(texts, key=lambda column: -sum(map(len, texts[column])))
    return _first_of(TEXT_NAMES, longest) or next(iter(longest), None)


def _first_of(names: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column with the first of `names` that any has, whatever its case."""
    by_name = {column.lower(): column for column in reversed(columns)}
    return next((by_name[name] for name in names if name in by_name), None)
