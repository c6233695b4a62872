"""What is suspicious about what deduplication did to the datasets."""

from typing import Any

LOSS_SHARE = 0.5  # of a dataset's documents, removed as duplicates: it is a copy of something, or the threshold is low


def dedup_alarms(statistics: dict[str, Any]) -> list[dict[str, Any]]:
    """Alarms {"dataset", "rule", "kind", "message"} for datasets that lose over half of what the rules left of them."""
    alarms = []
    for name, dataset in statistics["datasets"].items():
        outcomes = {outcome: count["documents"] for outcome, count in dataset["outcomes"].items()}
        lost = outcomes["removed_within"] + outcomes["removed_across"]
        judged = lost + outcomes["pending"] + outcomes["written"]
        if judged and lost > LOSS_SHARE * judged:
            message = f"loses {lost:,} of {judged:,} documents as duplicates, more than {LOSS_SHARE:.0%}"
            alarms.append({"dataset": name, "rule": "dedup", "kind": "loses_much", "message": message})
    return alarms
