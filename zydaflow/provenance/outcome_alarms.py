"""What is suspicious about what became of the datasets' documents."""

from typing import Any

LOSS_SHARE = 0.5  # of the documents: a rule does not fit the dataset, it is a copy of something, or a threshold is low


def outcome_alarms(statistics: dict[str, Any]) -> list[dict[str, Any]]:
    """Alarms {"dataset", "rule", "kind", "message"} for datasets that lose over half of their documents.

    Those with a text to the rules, or of what the rules leave to deduplication.
    """
    alarms = []
    for name, dataset in statistics["datasets"].items():
        outcomes = {outcome: count["documents"] for outcome, count in dataset["outcomes"].items()}
        duplicates = outcomes["removed_within"] + outcomes["removed_across"]
        left = duplicates + outcomes["pending"] + outcomes["written"]
        losses = (
            ("filters", outcomes["filtered"], outcomes["filtered"] + left, "documents to its rules"),
            ("dedup", duplicates, left, "documents as duplicates"),
        )
        for rule, lost, of, what in losses:
            if lost > LOSS_SHARE * of:
                message = f"loses {lost:,} of {of:,} {what}, more than {LOSS_SHARE:.0%}"
                alarms.append({"dataset": name, "rule": rule, "kind": "loses_much", "message": message})
    return alarms
