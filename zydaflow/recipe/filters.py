"""Rules and rule sets as a recipe, or a file of its own, says them."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, ValidationError, model_validator

from zydaflow.errors import RecipeError
from zydaflow.recipe.part import Name, Names, Part, not_empty, plain, wrong
from zydaflow.recipe.scalars import LocalPath, absolute_path
from zydaflow.recipe.yamltext import read_yaml
from zydaflow.storage import path_of

SUFFIXES = (".yaml", ".yml")  # of files with rule sets: any other name is that of one in the package

Nulls = Literal["keep", "remove"]


class Bounds(Part):
    """What a value may be."""

    min: float | None = None
    """documents with a smaller value are removed"""
    max: float | None = None
    """documents with a larger value are removed"""

    @model_validator(mode="after")
    def _some_value_stays(self) -> Self:
        check = _above(self.min, self.max)
        if check:
            raise check
        return self


class RuleSpec(Part):
    """A document is removed whose signal lies below `min` or above `max`."""

    signal: Name
    """the name of a signal, like n_words"""
    min: float | None = None
    """documents with a smaller value are removed"""
    max: float | None = None
    """documents with a larger value are removed"""
    by_language: dict[Name, Bounds] = Field(default_factory=dict)
    """by label of the language, the bounds in place of these, like {zh: {max: 3}}; {} for none"""
    nulls: Nulls = "keep"
    """whether documents without a value stay: keep or remove"""

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        error = _above(self.min, self.max)
        if not _has_bound(self):
            error = wrong("min", f"the rule on {self.signal} has no bound; give min, max or both", None)
        if error:
            raise error
        return self


class ColumnRule(Part):
    """A document is removed by the value of a column that its dataset carries in its metadata."""

    column: Name
    """the name of a column of the metadata, like score"""
    min: float | None = None
    """documents with a smaller number are removed"""
    max: float | None = None
    """documents with a larger number are removed"""
    allow: Names | None = None
    """documents with another text are removed, like [en, de]"""
    deny: Names | None = None
    """documents with one of these texts are removed"""
    by_language: dict[Name, Bounds] = Field(default_factory=dict)
    """by label of the language, the bounds in place of these, like {zh: {min: 2}}; {} for none"""
    nulls: Nulls = "keep"
    """whether documents without a value stay: keep or remove"""

    @model_validator(mode="after")
    def _one_test(self) -> Self:
        numbers = _has_bound(self) or bool(self.by_language)
        if numbers + (self.allow is not None) + (self.deny is not None) != 1:
            message = f"the rule on {self.column} needs min, max or both, or allow, or deny"
            raise wrong("min", message, self.min)
        if error := _above(self.min, self.max):
            raise error
        return self


class CompositeSpec(Part):
    """A document is removed that breaks any, or one that breaks all, of the rules in it."""

    name: Name
    """what reasons and statistics call it"""
    any: "Annotated[tuple[RuleItem, ...], AfterValidator(not_empty)] | None" = None
    """rules of which a document that breaks any is removed"""
    all: "Annotated[tuple[RuleItem, ...], AfterValidator(not_empty)] | None" = None
    """rules of which only a document that breaks all is removed"""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.any is None) == (self.all is None):
            raise wrong("any", f"{self.name} needs either any or all, and not both", None)
        return self

    @property
    def test(self) -> Literal["any", "all"]:
        """Which of the two it is."""
        return "all" if self.any is None else "any"

    @property
    def parts(self) -> "tuple[RuleItem, ...]":
        """The rules in it."""
        return self.any or self.all or ()


class RuleSetSpec(Part):
    """A rule set: one of the package, one from a file, or one whose rules stand here."""

    set: Name
    """the name of a rule set, like gopher, or the path of a .yaml file with one"""
    without: Names = ()
    """signals or rules of it that do not count, like [gopher.word_count.max]"""
    words: Literal["unicode", "script"] | None = None
    """how its signals split words; default: by white space"""
    source: str = ""
    """where its thresholds are from"""
    rules: "tuple[RuleItem, ...] | None" = None
    """rules like {signal: n_words, min: 50}; default: those of the package or of the file"""
    reports: Names = ()
    """signals that are measured with it and never a reason to remove"""


def _form(value: Any) -> str | None:
    """Which kind of filter a value wants to be. The tags are in <>, so that messages can leave them out."""
    if isinstance(value, str):
        return "<name>"
    if isinstance(value, Part):
        return {ColumnRule: "<column>", CompositeSpec: "<composite>", RuleSetSpec: "<set>"}.get(type(value), "<keys>")
    if not isinstance(value, dict):
        return None
    forms = {"set": "<set>", "column": "<column>", "any": "<composite>", "all": "<composite>"}
    return next((form for key, form in forms.items() if key in value), "<keys>")


def _with_file(value: Any) -> Any:
    """A rule set with what its file says, so that a recipe holds all of it."""
    given = {"set": value} if isinstance(value, str) else value
    if not isinstance(given, dict) or "rules" in given or not str(given.get("set")).endswith(SUFFIXES):
        return value
    path = absolute_path(str(given["set"]))
    return read_rule_set(path) | given | {"set": path}


def read_rule_set(path: str) -> dict[str, Any]:
    """The keys of a rule set's file: source, rules, reports. Raises ValueError for a file that holds none."""
    try:
        content, _ = read_yaml(path_of(path).read_text(encoding="utf-8"), path)
    except OSError as error:
        raise ValueError(f"{path}: the rule set cannot be read: {error.strerror or error}") from error
    except RecipeError as error:
        raise ValueError(str(error)) from error
    if not isinstance(content, dict) or "rules" not in content:
        raise ValueError(f"{path}: a rule set is a mapping with the key rules")
    return plain(content)


RuleItem = Annotated[
    Annotated[RuleSpec, Tag("<keys>")]
    | Annotated[ColumnRule, Tag("<column>")]
    | Annotated[CompositeSpec, Tag("<composite>")],
    Discriminator(
        _form,
        custom_error_type="recipe",
        custom_error_message="must be a rule, like {signal: n_words, min: 50}",
    ),
]
Filter = Annotated[
    Annotated[
        Annotated[Name, Tag("<name>")]
        | Annotated[RuleSetSpec, Tag("<set>")]
        | Annotated[RuleSpec, Tag("<keys>")]
        | Annotated[ColumnRule, Tag("<column>")]
        | Annotated[CompositeSpec, Tag("<composite>")],
        Discriminator(
            _form,
            custom_error_type="recipe",
            custom_error_message="must be the name of a rule set, like zyda, "
            "or a rule, like {signal: n_words, min: 50}",
        ),
    ],
    BeforeValidator(_with_file),
]
CompositeSpec.model_rebuild()
RuleSetSpec.model_rebuild()


class UrlLists(Part):
    """Block lists for the URLs of documents; each is a list of files with an entry on each line."""

    domains: tuple[LocalPath, ...] = ()
    """files of domains, which stand for all below them too"""
    urls: tuple[LocalPath, ...] = ()
    """files of whole URLs"""
    words: tuple[LocalPath, ...] = ()
    """files of words, of which a URL may hold none"""
    substrings: tuple[LocalPath, ...] = ()
    """files of texts that may be nowhere among a URL's letters and digits"""
    soft_words: tuple[LocalPath, ...] = ()
    """files of words, of which a URL may hold one"""


def set_name(item: Filter) -> str | None:
    """The name or path of a rule set; None for a rule."""
    return item if isinstance(item, str) else item.set if isinstance(item, RuleSetSpec) else None


def title(item: Filter | RuleItem) -> str:
    """A rule set's or rule's name, in the recipe's words."""
    if isinstance(item, str):
        return item
    if isinstance(item, RuleSetSpec):
        return item.set
    if isinstance(item, CompositeSpec):
        return item.name
    return item.signal if isinstance(item, RuleSpec) else item.column


def _has_bound(rule: RuleSpec | ColumnRule) -> bool:
    return any(of.min is not None or of.max is not None for of in (rule, *rule.by_language.values()))


def _above(low: float | None, high: float | None) -> ValidationError | None:
    if low is not None and high is not None and low > high:
        return wrong("min", f"min {low:g} is above max {high:g}: every document would be removed", low)
    return None
