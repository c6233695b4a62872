"""A dataset that is mostly duplicates is told."""

from zydaflow.provenance.dedup_alarms import dedup_alarms


def _statistics(within: int, across: int, written: int) -> dict:
    counts = {"removed_within": within, "removed_across": across, "pending": 0, "written": written, "filtered": 99}
    return {"datasets": {"copy": {"outcomes": {name: {"documents": n} for name, n in counts.items()}}}}


def test_more_than_half_is_told_and_half_is_not() -> None:
    assert dedup_alarms(_statistics(20, 30, 50)) == []
    assert [alarm["message"] for alarm in dedup_alarms(_statistics(20, 31, 49))] == [
        "loses 51 of 100 documents as duplicates, more than 50%"
    ]


def test_an_empty_dataset_has_lost_nothing() -> None:
    assert dedup_alarms(_statistics(0, 0, 0)) == []
