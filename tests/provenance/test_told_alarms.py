from typing import Any

from zydaflow.provenance.told_alarms import alarm_lines, idle_rules


def alarm(dataset: str, rule: str, kind: str, **more: str) -> dict[str, Any]:
    return {"dataset": dataset, "rule": rule, "kind": kind, "message": f"{rule} {kind} {more}"} | more


STATISTICS = {
    "alarms": [
        alarm("a", "r.max", "removes_all"),
        alarm("a", "r.max", "removes_language", language="fr"),
        alarm("a", "r.max", "removes_language", language="it"),
        alarm("a", "q.min", "removes_none"),
        alarm("b", "r.max", "removes_language", language="fr"),
        alarm("b", "s.max", "removes_none"),
        alarm("b", "q.min", "removes_none"),
    ]
}


def test_one_rule_on_many_languages_is_one_line() -> None:
    assert alarm_lines(STATISTICS) == [
        ("a", "r.max removes_all {}"),
        ("a", "r.max removes nearly all documents in 2 languages: fr, it"),
        ("b", "r.max removes_language {'language': 'fr'}"),
    ]


def test_idle_rules_are_told_apart() -> None:
    assert idle_rules(STATISTICS, "b") == ["q.min", "s.max"]
