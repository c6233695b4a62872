"""Who may lose documents to whom, and who comes first."""

from zydaflow.dedup.roles import roles


def test_by_default_all_lose_and_rank_is_precedence() -> None:
    found = roles([False, False, False], ("within", "across"))
    assert found.precedence.tolist() == [0, 1, 2]
    for flags in (found.loses, found.to_others, found.within, found.across):
        assert flags.tolist() == [True] * 3
    assert not found.is_index.any()


def test_what_is_frozen_comes_first_and_loses_nothing() -> None:
    found = roles([False, True, False], ("within", "across"))
    assert found.precedence.tolist() == [1, 0, 2]
    for flags in (found.loses, found.to_others, found.within, found.across):
        assert flags.tolist() == [True, False, True]


def test_those_removed_from_come_last_and_lose_alone() -> None:
    found = roles([False, False, False, True], ("across",), [True, False, False, False])
    assert found.precedence.tolist() == [3, 1, 2, 0]
    assert found.to_others.tolist() == found.across.tolist() == [True, False, False, False]
    assert found.loses.tolist() == [True, True, True, False]
    assert not found.within.any()


def test_an_index_comes_before_everything_and_all_lose_to_it() -> None:
    found = roles([True, False], (), [False, False], indexes=2)
    assert found.is_index.tolist() == [False, False, True, True]
    assert found.precedence.tolist() == [2, 3, 0, 1]
    assert found.loses.tolist() == [False, True, False, False]
    assert not found.across.any()
