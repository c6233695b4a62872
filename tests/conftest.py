"""Fixtures that more than one folder of tests uses."""

from pathlib import Path

import pytest
from serial import Serial
from small import write_small

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that take many seconds come last."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real text and known answers, which lies beside the checkout and not in it."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"the folder of real data is not at {SHARED_DATA}")
    return SHARED_DATA


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one finished run of the recipe in `small.py`, for all tests that only read it."""
    with pytest.MonkeyPatch.context() as patch:
        return Serial(patch).run(write_small(tmp_path_factory.mktemp("small")))


@pytest.fixture
def serial(monkeypatch: pytest.MonkeyPatch) -> Serial:
    """An engine of one process."""
    return Serial(monkeypatch)
