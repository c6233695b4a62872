"""The card of a classifier: what it was made of, how good it is, and how to use it.

No date and no machine are in it.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from zydaflow.classifier.documents import GOOD
from zydaflow.classifier.evaluate import SHARES, Cut, Evaluation
from zydaflow.classifier.fit import settings_for
from zydaflow.provenance.card.markdown import fenced, table
from zydaflow.provenance.numbers import megabytes
from zydaflow.version import __version__

if TYPE_CHECKING:
    from zydaflow.classifier.train import Trained

USE = """\
classifiers:
  quality: {{model: PATH/model.bin, label: {label}}}
filters:
  - {{signal: classifier.quality, min: {threshold!r}}}"""


def render(trained: "Trained") -> str:
    """The card as Markdown."""
    good, bad = trained.trained_on
    settings = ", ".join(f"{name} {value}" for name, value in settings_for(good + bad).items())
    parts = [
        "# A classifier of quality",
        f"A fastText model with the labels `good` and `bad`, trained on {good:,} good and {bad:,} bad documents. It "
        "reads a document as one line, its lines joined by spaces.",
        "## Use",
        fenced(USE.format(label=GOOD, threshold=trained.evaluation.wished.threshold), "yaml"),
        "## Evaluation",
        f"On {trained.held_out}: {trained.evaluation.good:,} good and {trained.evaluation.bad:,} bad ones. Which share "
        "a threshold keeps depends on how many of the documents are good: for a corpus of another mixture, evaluate on "
        "a sample of it.",
        cuts(trained.evaluation),
        "## Calibration",
        "Of the documents with a score in a range: the mean score, and the share of good ones. The two are "
        f"{trained.evaluation.calibration_error:.4f} apart on the average (expected calibration error).",
        calibration(trained.evaluation),
        "## Made of",
        table(
            ["dataset", "label", "documents", "text", "licence"],
            [[s.name, s.label, f"{s.documents:,}", megabytes(s.bytes), s.license] for s in trained.sources],
        ),
        "Texts that occur twice count once, and those that are both good and bad are left out.",
        f"zydaflow {__version__}, fasttext-new {version('fasttext-new')}; seed {trained.seed}, one thread, {settings}.",
    ]
    return "\n\n".join(parts) + "\n"


def cuts(evaluation: Evaluation) -> str:
    """What thresholds keep, as a table."""
    named = [("0.5", evaluation.half), ("wished", evaluation.wished)]
    named += [(f"{share:.0%} or more", cut) for share, cut in zip(SHARES, evaluation.shares, strict=True)]
    return table(["", "threshold", "keeps", "precision", "recall"], [_row(name, cut) for name, cut in named])


def _row(name: str, cut: Cut) -> list[str]:
    return [name, f"{cut.threshold:.4g}", f"{cut.keeps:.1%}", f"{cut.precision:.1%}", f"{cut.recall:.1%}"]


def calibration(evaluation: Evaluation) -> str:
    """Scores and shares of good documents by bin, as a table."""
    rows = [
        [f"{found.low:.1f} to {found.low + 0.1:.1f}", f"{found.documents:,}", f"{found.score:.3f}", f"{found.good:.3f}"]
        for found in evaluation.calibration
    ]
    return table(["score", "documents", "mean score", "good"], rows)
