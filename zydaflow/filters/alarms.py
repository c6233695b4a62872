"""What is suspicious about the effect of the rules on a dataset."""

from typing import Any

LANGUAGE_SHARE = 0.95  # of one language's documents, removed by a rule that is not about language


def rule_alarms(statistics: dict[str, Any]) -> list[dict[str, Any]]:
    """The alarms for one dataset's statistics (those of `RuleStatistics.to_json`, merged), in the order of its rules.

    Each is {"rule", "kind", "message"}, and "language" where it is about one. Kinds: `removes_all`, `removes_none`, and
    `removes_language`, where a rule that is not about language removes over 95 % of one language's documents.
    """
    return [alarm for name, counts in statistics["rules"].items() for alarm in _alarms(name, counts)]


def _alarms(name: str, counts: dict[str, Any]) -> list[dict[str, Any]]:
    seen, broken = counts["seen"]["documents"], counts["broken_at_all"]["documents"]
    if seen == 0:
        return []
    if broken == 0:
        return [{"rule": name, "kind": "removes_none", "message": f"{name} removes none of {seen} documents"}]
    alarms: list[dict[str, Any]] = []
    if broken == seen:
        alarms.append({"rule": name, "kind": "removes_all", "message": f"{name} removes all {seen} documents"})
    if counts["rule"]["signal"] in ("language", "language_score"):
        return alarms
    for language, of in counts["languages"].items():
        if of["broken"] > LANGUAGE_SHARE * of["seen"]:
            message = f"{name} removes {of['broken']} of {of['seen']} documents in the language {language}"
            alarms.append({"rule": name, "kind": "removes_language", "language": language, "message": message})
    return alarms
