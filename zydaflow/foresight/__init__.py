"""What a run is to be expected to do and to take, from a sample of its input: `zydaflow plan --measure`."""

from zydaflow.foresight.text import foresee

__all__ = ["foresee"]
