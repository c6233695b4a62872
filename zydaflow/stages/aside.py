"""Documents that were read and cannot be processed: set aside, into the quarantine."""

import numpy as np
import pyarrow as pa

from zydaflow.provenance.commits import Record
from zydaflow.sources import Batch
from zydaflow.sources.records import HEAD, Bad, quarantine_of

Failing = dict[int, str]  # why documents of a part cannot be processed, by position


def failing_of(measured: Record) -> Failing:
    """The documents that were set aside when a part was measured."""
    return dict(measured.facts.get("unprocessed", ()))


def set_aside(batch: Batch, failing: Failing) -> Batch:
    """The batch with the failing documents in its quarantine instead of among its records; `bytes` are their texts'."""
    positions = batch.records["position"].to_numpy()
    bad = np.isin(positions, np.fromiter(failing, np.int64, len(failing)))
    if not bad.any():
        return batch
    texts = batch.records["text"]
    rows = [_bad(int(positions[row]), texts[row], failing) for row in np.flatnonzero(bad).tolist()]
    quarantine = pa.concat_batches([batch.quarantine, quarantine_of(rows)])
    order = np.argsort(quarantine["position"].to_numpy())
    return Batch(
        batch.part,
        batch.records.filter(pa.array(~bad)),
        quarantine.take(pa.array(order)),
        batch.sampled_out,
        batch.repaired,
    )


def _bad(position: int, text: pa.LargeStringScalar, failing: Failing) -> Bad:
    data = memoryview(text.as_buffer() or b"")
    return Bad(position, data.nbytes, failing[position], bytes(data[:HEAD]))
