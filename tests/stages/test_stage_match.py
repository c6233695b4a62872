"""Band keys on disk: each key range has its own checksum, which is looked at when the range is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from inputs import recipe
from serial import Serial

from zydaflow import pipeline
from zydaflow.provenance.commits import DamagedArtefact, Store
from zydaflow.stages.unit import Timing


def _flip_a_key(path: Path) -> None:
    """Changes one bit of the first key in the file."""
    whole = pa.py_buffer(path.read_bytes())
    reader = pa.ipc.open_file(whole)
    batches = [reader.get_batch(index) for index in range(reader.num_record_batches)]
    keys = next(batch["key"].buffers()[1] for batch in batches if len(batch))
    data = bytearray(whole)
    data[keys.address - whole.address] ^= 1
    path.write_bytes(data)


def _damage_footer(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-20:] = bytes(20)
    path.write_bytes(data)


@pytest.mark.parametrize("damage", [_flip_a_key, _damage_footer])
def test_damaged_band_keys_are_found_when_they_are_read(
    serial: Serial, entries: list[dict], out: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]
) -> None:
    do = pipeline.run_units

    def do_and_damage(store: Store, stage: str, *rest: Any) -> Timing:
        timing = do(store, stage, *rest)
        if stage == "bands":
            damage(next(store.path("work/bands").iterdir()))
        return timing

    monkeypatch.setattr(pipeline, "run_units", do_and_damage)
    with pytest.raises(DamagedArtefact, match="work/bands/"):
        serial.run(recipe(entries, out))
    assert list(out.glob("commits/match/*")) == []
