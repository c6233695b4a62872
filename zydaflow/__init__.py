"""zydaflow turns open text datasets into one filtered, deduplicated, tokenized corpus with provenance."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zydaflow.classifier.train import train_classifier
    from zydaflow.filter_what_if import filter_whatif
    from zydaflow.pipeline import extend, run
    from zydaflow.provenance.run import Run, open_run
    from zydaflow.provenance.verify import verify
    from zydaflow.recipe import Recipe, load_recipe
    from zydaflow.signal_list import list_signals
    from zydaflow.what_if import whatif

from zydaflow.version import __version__ as __version__

__all__ = [
    "Recipe",
    "Run",
    "extend",
    "filter_whatif",
    "list_signals",
    "load_recipe",
    "open_run",
    "run",
    "train_classifier",
    "verify",
    "whatif",
]

_HOMES = {
    "Recipe": "zydaflow.recipe",
    "Run": "zydaflow.provenance.run",
    "extend": "zydaflow.pipeline",
    "filter_whatif": "zydaflow.filter_what_if",
    "list_signals": "zydaflow.signal_list",
    "load_recipe": "zydaflow.recipe",
    "open_run": "zydaflow.provenance.run",
    "run": "zydaflow.pipeline",
    "train_classifier": "zydaflow.classifier.train",
    "verify": "zydaflow.provenance.verify",
    "whatif": "zydaflow.what_if",
}


def __getattr__(name: str) -> Any:
    """Imports what is asked for, and no sooner: the command line starts in a tenth of the time."""
    if name not in _HOMES:
        raise AttributeError(f"module 'zydaflow' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
