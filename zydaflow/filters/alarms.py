"""What is suspicious about the effect of the rules on a dataset."""

import re
from typing import Any

LANGUAGE_SHARE = 0.95  # of one language's documents, removed by a rule that is not about language
ABOUT_LANGUAGE = re.compile(r"language(_score|_share\..*)?")

Json = dict[str, Any]


def rule_alarms(statistics: Json) -> list[Json]:
    """The alarms for one dataset's statistics (those of `RuleStatistics.to_json`, merged), in the order of its rules.

    Each is {"rule", "kind", "message"}, and "language" where it is about one. Kinds: `removes_all`, `removes_none`,
    `applies_to_none`, where no document has what the rule goes by, and `removes_language`, where a rule that is not
    about language removes over 95 % of one language's documents.
    """
    documents = _documents(statistics)
    return [alarm for name, counts in statistics["rules"].items() for alarm in _alarms(name, counts, documents)]


def _documents(statistics: Json) -> int:
    """How many documents with text there were, as far as it can be told."""
    rules = [counts["seen"]["documents"] for counts in statistics["rules"].values()]
    signals = [_counted(of["all"]) + of["null"]["all"] for of in statistics["signals"].values()]
    return max([*rules, *signals], default=0)


def _counted(histogram: list[int] | dict[str, int]) -> int:
    return sum(histogram.values() if isinstance(histogram, dict) else histogram)


def _alarms(name: str, counts: Json, documents: int) -> list[Json]:
    seen, broken = counts["seen"]["documents"], counts["broken_at_all"]["documents"]
    if seen == 0:
        if documents == 0 or counts["rule"].get("only"):  # that none is in this language is nothing to worry about
            return []
        message = f"{name} applies to none of {documents} documents: none has what it goes by"
        return [{"rule": name, "kind": "applies_to_none", "message": message}]
    if broken == 0:
        return [{"rule": name, "kind": "removes_none", "message": f"{name} removes none of {seen} documents"}]
    alarms: list[Json] = []
    if broken == seen:
        alarms.append({"rule": name, "kind": "removes_all", "message": f"{name} removes all {seen} documents"})
    if ABOUT_LANGUAGE.fullmatch(counts["rule"].get("signal", "")):
        return alarms
    for language, of in counts["languages"].items():
        if of["broken"] > LANGUAGE_SHARE * of["seen"]:
            message = f"{name} removes {of['broken']} of {of['seen']} documents in the language {language}"
            alarms.append({"rule": name, "kind": "removes_language", "language": language, "message": message})
    return alarms
