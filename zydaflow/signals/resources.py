"""The files that signals need, as paths: what is sent to workers, who load each file once per process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zydaflow.recipe import ClassifierSpec, Recipe

WORD_LISTS = ("sexual", "profanity", "zh_pornsignals", "cursed_substrings")
OWN_LISTS = Path(__file__).parent / "word_lists"


@dataclass(frozen=True)
class Resources:
    """Paths and settings, hashable; the default is the package's own short word lists and no language model."""

    word_lists: tuple[str, ...] = tuple(str(OWN_LISTS / f"{name}.json") for name in WORD_LISTS)  # as WORD_LISTS
    language_model: str | None = None  # a fastText model
    language_bytes: int = 4096  # of a document's start, seen by the model
    classifiers: tuple[tuple[str, ClassifierSpec], ...] = ()  # by name

    @classmethod
    def of(cls, recipe: Recipe) -> Resources:
        """The recipe's files; the package's own list where the recipe names none."""
        paths = dict(zip(WORD_LISTS, cls.word_lists, strict=True)) | recipe.word_lists
        language: dict[str, Any] = {}
        if recipe.language is not None:
            language = {"language_model": recipe.language.model, "language_bytes": recipe.language.max_bytes}
        return cls(
            word_lists=tuple(paths[name] for name in WORD_LISTS),
            classifiers=tuple(recipe.classifiers.items()),
            **language,
        )
