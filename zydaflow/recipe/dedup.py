"""How near-duplicates are found, and which copy stays: the recipe's section `dedup`."""

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from zydaflow.recipe.keep import KeepKey, parse_keep
from zydaflow.recipe.part import Names, Part, not_empty, wrong
from zydaflow.recipe.scalars import LocalPath

Pass = Literal["within", "across", "joint"]


class ShingleSpec(Part):
    """The pieces of a text that two documents are compared by."""

    unit: Literal["word", "character"] = "word"
    """word or character"""
    size: int = Field(default=13, ge=1, le=1000)
    """how many words or characters make one shingle, 1 to 1,000"""


def _keep_keys(keys: Names) -> Names:
    if len({parse_keep(key).name for key in keys}) < len(keys):
        raise ValueError("names a key twice")
    return keys


class AcrossSpec(Part):
    """Between which datasets duplicates are removed."""

    remove_from: Annotated[Names, AfterValidator(not_empty)]
    """the names of the datasets that lose documents to others; the others lose none to them, whatever the rank"""


class DedupSpec(Part):
    """How near-duplicates are found, and which of them count. The defaults are Zyda's (arXiv 2406.01981)."""

    shingle: ShingleSpec = ShingleSpec()
    """{unit: word, size: 13}"""
    permutations: int = Field(default=128, ge=1, le=2**14)
    """the number of values in a signature, 1 to 16,384, of 4 bytes each"""
    threshold: float = Field(default=0.4, gt=0, le=1)
    """the similarity from which a document counts as a duplicate, above 0 and at most 1"""
    bands: int | None = Field(default=None, ge=1)
    """the number of bands, together with rows; default: from the threshold"""
    rows: int | None = Field(default=None, ge=1)
    """the number of values in a band, together with bands; default: from the threshold"""
    exact: Names = ()
    """what documents are compared by before signatures: text (in its normal form), or a column like url"""
    passes: tuple[Pass, ...] = ("within", "across")
    """[within, across], one of them, or [joint] with verify: none; [] with against alone"""
    across: AcrossSpec | None = None
    """{remove_from: [NAME, …]}"""
    against: tuple[LocalPath, ...] = ()
    """folders of indexes (zydaflow dedup index) whose documents must not come again"""
    keep: Annotated[Names, AfterValidator(_keep_keys)] = ()
    """which of several copies in one dataset stays: names of signals or metadata columns, length or date, like
    [quality, length ascending]; without a direction the largest stays"""
    verify: Literal["signature", "exact", "none"] = "signature"
    """signature, exact, or none with passes: [joint]"""
    compare_limit: int = Field(default=64, ge=1, le=10**6)
    """with how many staying documents a document is compared per band, 1 to 1,000,000"""

    @model_validator(mode="after")
    def _bands(self) -> Self:
        if (self.bands is None) != (self.rows is None):
            missing = "bands" if self.bands is None else "rows"
            raise wrong(missing, "bands and rows belong together; give both or neither", None)
        if self.bands and self.rows and self.bands * self.rows > self.permutations:
            message = (
                f"bands × rows is {self.bands} × {self.rows} = {self.bands * self.rows}, "
                f"more than the {self.permutations} permutations; lower one or raise permutations"
            )
            raise wrong("bands", message, self.bands)
        return self

    @property
    def keep_keys(self) -> tuple[KeepKey, ...]:
        """`keep`, read."""
        return tuple(parse_keep(key) for key in self.keep)

    @model_validator(mode="after")
    def _passes(self) -> Self:
        if len(set(self.passes)) < len(self.passes) or ("joint" in self.passes and self.passes[1:]):
            raise wrong("passes", "must be [within, across], [within], [across] or [joint]", self.passes)
        if not self.passes and not self.against and not self.exact:
            raise wrong(
                "passes",
                "must be [within, across], [within], [across] or [joint]; [] only with against or exact",
                (),
            )
        if self.passes == ("joint",) and self.verify != "none":
            message = (
                "the joint pass removes whole components without comparing their documents; "
                "set verify: none with it, or use passes: [within, across]"
            )
            raise wrong("passes", message, self.passes)
        if self.verify == "none" and self.passes != ("joint",):
            message = (
                "without verification a chain of removals would lose its evidence, so only the plain components "
                "of the original are offered; set passes: [joint] with it, or verify: signature or exact"
            )
            raise wrong("verify", message, self.verify)
        return self

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if len(set(self.exact)) < len(self.exact):
            raise wrong("exact", "names a key twice", self.exact)
        joint_refuses = {"exact": self.exact, "across": self.across, "against": self.against}
        for key, value in joint_refuses.items():
            if value and self.passes == ("joint",):
                raise wrong(key, f"the joint pass has no {key}; leave it out, or use passes: [within, across]", value)
        if self.across and "across" not in self.passes:
            raise wrong("across", "is about the pass across; add that to passes", self.across)
        if self.against and self.verify == "exact":
            raise wrong("against", "an index holds no texts; set verify: signature with it", self.against)
        return self
