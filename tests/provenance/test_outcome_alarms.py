"""A dataset of which little is left, a cluster that is much of it, and a hot bucket are told."""

from typing import Any

from zydaflow.provenance.outcome_alarms import outcome_alarms
from zydaflow.recipe import AlarmSpec

LIMITS = AlarmSpec()


def _statistics(most: int = 0, bucket: int = 0, **documents: int) -> dict[str, Any]:
    names = ("removed_exact", "removed_within", "removed_across", "pending", "written", "filtered")
    outcomes = {name: {"documents": documents.get(name, 0)} for name in names}
    clusters = {"most": {"copy": {"documents": most, "cluster": "c1"}} if most else {}, "largest_bucket": bucket}
    return {"datasets": {"copy": {"outcomes": outcomes}}, "clusters": clusters}


def _told(statistics: dict[str, Any], limits: AlarmSpec = LIMITS) -> list[tuple[str, str]]:
    return [(alarm["kind"], alarm["message"]) for alarm in outcome_alarms(statistics, limits)]


def test_the_stated_limits() -> None:
    assert AlarmSpec(loses=0.5, cluster_share=0.05, bucket=100_000, stop=False) == LIMITS


def test_more_than_half_as_duplicates_of_any_kind_is_told_and_half_is_not() -> None:
    assert _told(_statistics(removed_exact=10, removed_within=20, removed_across=20, written=50)) == []
    assert _told(_statistics(removed_exact=11, removed_within=20, removed_across=20, written=49)) == [
        ("loses_much", "loses 51 of 100 documents as duplicates, more than 50 %")
    ]


def test_more_than_half_to_rules_is_told_and_half_is_not() -> None:
    assert _told(_statistics(written=50, filtered=50)) == []
    assert _told(_statistics(removed_across=10, written=39, filtered=51)) == [
        ("loses_much", "loses 51 of 100 documents to its rules, more than 50 %")
    ]
    assert _told(_statistics(pending=3, filtered=7)) == [
        ("loses_much", "loses 7 of 10 documents to its rules, more than 50 %")
    ]


def test_the_limit_is_the_recipes() -> None:
    quarter = AlarmSpec(loses=0.25)
    assert _told(_statistics(removed_within=25, written=75), quarter) == []
    assert _told(_statistics(removed_within=26, written=74), quarter) == [
        ("loses_much", "loses 26 of 100 documents as duplicates, more than 25 %")
    ]


def test_all_and_nothing() -> None:
    assert _told(_statistics(filtered=7)) == [("loses_much", "loses 7 of 7 documents to its rules, more than 50 %")]
    assert _told(_statistics()) == []


def test_a_cluster_of_more_than_a_twentieth_and_of_a_hundred_documents() -> None:
    assert _told(_statistics(most=100, written=2000)) == []
    assert _told(_statistics(most=101, written=1900, removed_within=100, filtered=90)) == [
        ("large_cluster", "the cluster c1 holds 101 of 2,000 documents, more than 5 %")
    ]
    assert _told(_statistics(most=99, written=100)) == []  # a few copies are much of a small dataset
    assert _told(_statistics(most=100, written=100)) == [
        ("large_cluster", "the cluster c1 holds 100 of 100 documents, more than 5 %")
    ]
    assert _told(_statistics(most=101, written=2000), AlarmSpec(cluster_share=0.1)) == []


def test_a_bucket_of_more_than_a_hundred_thousand() -> None:
    assert _told(_statistics(bucket=100_000)) == []
    (alarm,) = outcome_alarms(_statistics(bucket=100_001), LIMITS)
    assert alarm == {
        "dataset": "all datasets",
        "rule": "dedup",
        "kind": "large_bucket",
        "message": "100,001 documents share one band, more than 100,000: they may have a template in common",
    }
    assert _told(_statistics(bucket=100_001), AlarmSpec(bucket=200_000)) == []
