"""What a run is told, as frozen models; a field's docstring is also the advice that its error messages end with."""

from collections import Counter
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from zydaflow.recipe.dedup import DedupSpec
from zydaflow.recipe.filters import Filter, UrlLists, set_name
from zydaflow.recipe.part import Name, Names, Part, not_empty, wrong
from zydaflow.recipe.scalars import FolderName, LocalPath, PathOrHubName, SignalName, Size
from zydaflow.recipe.scorer import ScorerSpec

WordList = Literal["sexual", "profanity", "zh_pornsignals", "cursed_substrings", "bad_words", "stop_words"]
SETS_WITH_TRANSFORM = ("zyda", "refinedweb", "c4")  # rule sets for texts after the transform of the same name
# By files beside the datasets' folders in a corpus or an index, on disks that ignore case too.
TAKEN = ("readme.md", "tokenizer.json", "index.json")


def _not_taken(name: str) -> str:
    if name in TAKEN:
        raise ValueError(f"{', '.join(TAKEN)} are files beside the datasets' folders; give another name")
    return name


class ColumnRef(Part):
    """A value that each document brings in a column of its own."""

    column: Name
    """the name of the column"""


class TrainPlan(Part):
    """How to train a tokenizer."""

    vocab_size: int = Field(ge=300)
    """the number of tokens, at least 300: 256 bytes, the end of text, and some merges"""


class TrainSpec(Part):
    """A byte-level BPE tokenizer, trained on a sample of the kept text."""

    train: TrainPlan
    """{vocab_size: NUMBER}"""


class TokenizerSpec(Part):
    """An existing tokenizer whose end-of-text token is named."""

    path: PathOrHubName
    """a tokenizer.json, a folder with one, or a hub name"""
    end_of_text: Name | None = None
    """the token that ends each document; without it, it is looked up in the tokenizer"""


def _name_or_keys(value: Any) -> str | None:
    """Which member of a union a value wants to be. The tags are in <>, so that messages can leave them out."""
    if isinstance(value, str):
        return "<name>"
    return "<keys>" if isinstance(value, dict | Part) else None


def _tokenizer_form(value: Any) -> str | None:
    trains = isinstance(value, TrainSpec) or (isinstance(value, dict) and "train" in value)
    return "<train>" if trains else _name_or_keys(value)


License = Annotated[
    Annotated[Name, Tag("<name>")] | Annotated[ColumnRef, Tag("<keys>")],
    Discriminator(
        _name_or_keys,
        custom_error_type="recipe",
        custom_error_message="must be the name of a licence, like CC0-1.0, or {column: NAME}",
    ),
]
Tokenizer = Annotated[
    Annotated[PathOrHubName, Tag("<name>")]
    | Annotated[TrainSpec, Tag("<train>")]
    | Annotated[TokenizerSpec, Tag("<keys>")],
    Discriminator(
        _tokenizer_form,
        custom_error_type="recipe",
        custom_error_message="must be a tokenizer.json, a hub name, {path: …, end_of_text: …} or {train: {…}}",
    ),
]


class DatasetSpec(Part):
    """One dataset; its place in the list is its rank."""

    name: Annotated[FolderName, AfterValidator(_not_taken)]
    """lower-case letters, digits, '.', '_' and '-': it becomes the name of a folder"""
    path: LocalPath
    """a file, folder, glob or URL, hub:OWNER/NAME[:CONFIG][@REVISION], or installed:NAME"""
    split: Name | None = None
    """the split of a hub dataset or DatasetDict folder"""
    text: Name = "text"
    """the column that holds the text"""
    id: Name | None = None
    """the column that holds the document's own id"""
    metadata: Names = ()
    """columns to carry along"""
    date: Name | None = None
    """the column that holds the document's date, carried along with the metadata"""
    url: Name | None = None
    """the column that holds the document's URL, carried along with the metadata"""
    license: License | None = None
    """the licence of all documents, or {column: NAME}"""
    transform: Names | None = None
    """transforms of the text, in order; [] keeps it byte for byte; default: [zyda] where zyda rules are used"""
    filters: tuple[Filter, ...] | None = None
    """rule sets and rules for this dataset, in place of the recipe's"""
    scorers: Names | None = None
    """names of those of the recipe's scorers that score this dataset; default: all of them"""
    sample: float = Field(default=1.0, gt=0, le=1)
    """the share of the documents to take, above 0 and at most 1"""
    frozen: bool = False
    """true, and no document of it is removed as a duplicate; those of the other datasets are, whatever their rank"""
    dedup: bool = True
    """false, and its documents are not compared with any"""

    @property
    def carried(self) -> Names:
        """The columns that are read as metadata."""
        return tuple(dict.fromkeys(name for name in (*self.metadata, self.date, self.url) if name))

    @model_validator(mode="after")
    def _takes_part(self) -> Self:
        if self.frozen and not self.dedup:
            raise wrong("frozen", "a dataset with dedup: false loses nothing anyway; leave one out", True)
        return self


def _unique_names(datasets: tuple[DatasetSpec, ...]) -> tuple[DatasetSpec, ...]:
    twice = [name for name, count in Counter(dataset.name for dataset in datasets).items() if count > 1]
    if twice:
        raise ValueError(f"several datasets have the name {', '.join(twice)}; each needs a name of its own")
    return datasets


class LanguageSpec(Part):
    """Which languages stay, by a fastText model."""

    model: LocalPath
    """the file of a fastText model, like lid.176.ftz"""
    keep: Annotated[Names, AfterValidator(not_empty)] | None = None
    """the labels of the languages that stay, like [en]; null for all, which are then only told apart"""
    min_score: float = Field(default=0.65, ge=0, le=1)
    """the score from which a label counts, 0 to 1"""
    max_bytes: int = Field(default=4096, gt=0)
    """how much of a document, from its start, the model sees"""


class ClassifierSpec(Part):
    """A fastText model with labels, whose probability of one of them is the signal `classifier.NAME`."""

    model: LocalPath
    """the file of a fastText model"""
    label: Name
    """the label whose probability is the signal, like hq, with or without __label__"""
    newlines: Literal["space", "drop"] = "space"
    """what becomes of newlines, at which a model would stop: space (as DCLM does) or drop (as datatrove does)"""
    max_bytes: int | None = Field(default=None, gt=0)
    """how much of a document, from its start, the model sees; null for all"""


class LicensePolicy(Part):
    """Which licences stay: those allowed, or all but those denied.

    Neither case nor spaces around a name count; SPDX identifiers match without regard to case (SPDX 2.3, annex D.2).
    """

    allow: Names | None = None
    """the licences that stay"""
    deny: Names | None = None
    """the licences that go"""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.allow is None) == (self.deny is None):
            raise wrong("allow", "licenses needs either allow or deny, and not both", self.allow)
        return self


class AlarmSpec(Part):
    """From where on numbers are suspicious."""

    loses: float = Field(default=0.5, gt=0, le=1)
    """the share of a dataset's documents that rules, or duplicates, may take"""
    cluster_share: float = Field(default=0.05, gt=0, le=1)
    """the share of a dataset's documents that one cluster may hold"""
    bucket: int = Field(default=100_000, ge=1)
    """how many documents may share one band"""
    stop: bool = False
    """true, and an alarm stops the run before the next stage, instead of being told at its end"""


class OutputSpec(Part):
    """Where the corpus goes and what is in it."""

    path: LocalPath
    """the folder of the run; default: runs/NAME"""
    text: bool = True
    """whether the text is written beside the tokens"""
    signals: bool = False
    """whether the signals are written beside the tokens"""
    shard_text: Size = 512 * 10**6
    """how much kept text goes into one output shard, in bytes"""


class ResourceSpec(Part):
    """How work is cut and what a task may use; none of it changes the result, but for a document beyond its time."""

    shard_bytes: Size = 256 * 10**6
    """how much of an input file one task reads, in bytes"""
    memory_per_task: Size = 2 * 10**9
    """the memory that one task may use, in bytes"""
    document_seconds: int = Field(default=60, ge=1)
    """how long a document, or each 8 MB of a longer one, may take to be measured and sketched, in seconds"""


class Recipe(Part):
    """Everything that determines a run. `datasets` are in rank order, the best first."""

    name: FolderName
    """lower-case letters, digits, '.', '_' and '-'"""
    seed: int = Field(default=1, ge=0, lt=2**32)
    """a number from 0 to 2³² - 1; samples and permutations follow from it"""
    datasets: Annotated[tuple[DatasetSpec, ...], AfterValidator(not_empty), AfterValidator(_unique_names)]
    """at least one dataset, like {name: blog, path: data/blog.jsonl}"""
    filters: tuple[Filter, ...] = ()
    """rule sets and rules for the datasets that name none of their own"""
    word_lists: dict[WordList, LocalPath] = Field(default_factory=dict)
    """files of word lists by name; default: the package's own short lists"""
    url_lists: UrlLists = UrlLists()
    """files of block lists for URLs, like {domains: [PATH, …]}"""
    scorers: dict[FolderName, ScorerSpec] = Field(default_factory=dict)
    """functions that give each text a number, the signal scorer.NAME, like {edu: {function: edu.py:score}}"""
    language: LanguageSpec | None = None
    """{model: PATH, keep: [en]}"""
    classifiers: dict[SignalName, ClassifierSpec] = Field(default_factory=dict)
    """by name, {model: PATH, label: hq}"""
    licenses: LicensePolicy | None = None
    """{allow: [...]} or {deny: [...]}"""
    dedup: DedupSpec | None = DedupSpec()
    """null for no deduplication"""
    tokenizer: Tokenizer | None = None
    """null for a corpus of text alone"""
    alarms: AlarmSpec = AlarmSpec()
    """{loses: 0.5, cluster_share: 0.05, bucket: 100000, stop: false}"""
    output: OutputSpec
    """{path: runs/NAME}"""
    resources: ResourceSpec = ResourceSpec()
    """{shard_bytes: 256MB, memory_per_task: 2GB, document_seconds: 60}"""

    @model_validator(mode="before")
    @classmethod
    def _default_output(cls, data: Any) -> Any:
        """Fills in the output path, the one default that depends on another key."""
        if isinstance(data, dict) and isinstance(output := data.get("output", {}), dict) and "path" not in output:
            return data | {"output": {"path": f"runs/{data.get('name')}"} | output}
        return data

    @model_validator(mode="after")
    def _something_to_write(self) -> Self:
        if self.tokenizer is None and not self.output.text:
            raise wrong("tokenizer", "without a tokenizer and with output.text: false nothing would be written", None)
        return self

    @model_validator(mode="after")
    def _known_scorers(self) -> Self:
        for dataset in self.datasets:
            for name in dataset.scorers or ():
                if name not in self.scorers:
                    message = (
                        f"dataset {dataset.name} names {name!r}, which is none of {', '.join(self.scorers) or 'them'}"
                    )
                    raise wrong("scorers", message, dataset.scorers)
        return self

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        """What `dedup` names is there: datasets to remove from, columns to compare by, dates."""
        spec = self.dedup
        if spec is None:
            return self
        self._check_remove_from(spec.across.remove_from if spec.across else ())
        columns = {name for dataset in self.datasets for name in (*dataset.carried, dataset.id)}
        missing = [name for name in spec.exact if name != "text" and name not in columns]
        if missing:
            message = f"no dataset carries the column {missing[0]!r}; name it in id: or metadata: of a dataset"
            raise wrong("dedup.exact", message, missing)
        if any(key.name == "date" for key in spec.keep_keys) and not any(dataset.date for dataset in self.datasets):
            raise wrong("dedup.keep", "names date, and no dataset has one; add date: COLUMN", spec.keep)
        return self

    def _check_remove_from(self, names: Names) -> None:
        datasets = {dataset.name: dataset for dataset in self.datasets}
        for name in names:
            if name not in datasets:
                message = f"there is no dataset {name!r}; the datasets are {', '.join(datasets)}"
            elif datasets[name].frozen or not datasets[name].dedup:
                why = "frozen" if datasets[name].frozen else "not compared (dedup: false)"
                message = f"{name} is {why} and loses no document; leave one out"
            else:
                continue
            raise wrong("dedup.across.remove_from", message, names)

    def dataset(self, name: str) -> DatasetSpec:
        """The dataset of that name."""
        return next(dataset for dataset in self.datasets if dataset.name == name)

    def filters_of(self, dataset: DatasetSpec) -> tuple[Filter, ...]:
        """The dataset's own filters, else the recipe's."""
        return self.filters if dataset.filters is None else dataset.filters

    def scorers_of(self, dataset: DatasetSpec) -> Names:
        """The dataset's own choice of scorers, else all."""
        return tuple(self.scorers) if dataset.scorers is None else dataset.scorers

    def without_scorers(self) -> Self:
        """The recipe with nothing that gives scores."""
        datasets = tuple(dataset.model_copy(update={"scorers": None}) for dataset in self.datasets)
        return self.model_copy(update={"datasets": datasets, "scorers": {}})

    def transform_of(self, dataset: DatasetSpec) -> Names:
        """The dataset's own transforms, else ("zyda",) where its filters include the zyda set, else none."""
        if dataset.transform is not None:
            return dataset.transform
        sets = set(map(set_name, self.filters_of(dataset)))
        return tuple(name for name in SETS_WITH_TRANSFORM if name in sets)
