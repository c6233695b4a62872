"""A dataset of which little is left is told."""

from zydaflow.provenance.outcome_alarms import outcome_alarms


def _told(within: int, across: int, written: int, filtered: int = 0) -> list[str]:
    counts = {
        "removed_within": within,
        "removed_across": across,
        "pending": 0,
        "written": written,
        "filtered": filtered,
    }
    outcomes = {name: {"documents": count} for name, count in counts.items()}
    return [alarm["message"] for alarm in outcome_alarms({"datasets": {"copy": {"outcomes": outcomes}}})]


def test_more_than_half_is_told_and_half_is_not() -> None:
    assert _told(20, 30, 50) == []
    assert _told(20, 31, 49) == ["loses 51 of 100 documents as duplicates, more than 50%"]
    assert _told(0, 0, 50, filtered=50) == []
    assert _told(0, 10, 39, filtered=51) == ["loses 51 of 100 documents to its rules, more than 50%"]


def test_all_and_nothing() -> None:
    assert _told(0, 0, 0, filtered=7) == ["loses 7 of 7 documents to its rules, more than 50%"]
    assert _told(0, 0, 0) == []
