"""The counts of a run as Ray's metrics, which the nodes of a cluster export for Prometheus (`ray_zydaflow_…`)."""

from functools import cache
from typing import Any

COUNTERS = {
    "done": ("zydaflow_units_done", "Units of work that are committed"),
    "retried": ("zydaflow_units_retried", "Units of work that were tried again"),
    "failed": ("zydaflow_units_failed", "Units of work that failed for good"),
    "documents": ("zydaflow_documents", "Documents worked through"),
    "bytes": ("zydaflow_bytes", "Bytes of text worked through"),
}
GAUGES = {
    "units": ("zydaflow_units", "Units of work that the stage has to do"),
    "running": ("zydaflow_units_running", "Units of work that Ray was given and that have not ended"),
}


class Metrics:
    """Of one stage of one run, by the tags `run`, the name of the output folder, and `stage`."""

    def __init__(self, run: str, stage: str) -> None:
        self._tags = {"run": run, "stage": stage}
        self._shown = dict.fromkeys(COUNTERS, 0)

    def show(self, counts: dict[str, int]) -> None:
        """Takes the counts so far, by the names above. Does nothing where Ray is not running."""
        import ray

        if not ray.is_initialized():
            return
        for name, metric in COUNTERS.items():
            if new := counts[name] - self._shown[name]:
                _metric("Counter", *metric).inc(new, self._tags)
        for name, metric in GAUGES.items():
            _metric("Gauge", *metric).set(counts[name], self._tags)
        self._shown = counts


@cache
def _metric(kind: str, name: str, what: str) -> Any:
    """The process's one metric of that name."""
    from ray.util import metrics

    return getattr(metrics, kind)(name, what, ("run", "stage"))
