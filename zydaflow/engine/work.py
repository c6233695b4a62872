"""What a worker does with units."""

import time

from zydaflow.engine.node import name_this_node
from zydaflow.provenance.commits import Store
from zydaflow.stages.unit import Done, Trouble, Unit


def work(
    store: Store, units: list[Unit], trouble: Trouble | None, nodes: set[str] | None
) -> list[tuple[Done, float]] | str:
    """Does the units in order, up to one of several that fails: it is done by itself later, and fails there.

    On a node that is none of `nodes` it does nothing, and returns the node's name.
    """
    import pyarrow as pa

    pa.set_cpu_count(1)
    node = name_this_node()
    if nodes is not None and node not in nodes:
        return node
    outcomes = []
    with store.behind():
        for unit in units:
            started = time.perf_counter()
            try:
                done = unit.function(store, *unit.arguments, *([trouble] if trouble else []))
            except Exception:
                if len(units) == 1:
                    raise
                break
            outcomes.append((done, time.perf_counter() - started))
    return outcomes
