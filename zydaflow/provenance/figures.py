"""The numbers of a run as the report and the dataset card write them."""

from typing import Any

from zydaflow.provenance.outcomes import DUPLICATES, OUTCOMES

Json = dict[str, Any]


def ranked(statistics: Json) -> list[tuple[str, Json]]:
    """(name, statistics) of the datasets, the best rank first."""
    return sorted(statistics["datasets"].items(), key=lambda item: item[1]["rank"])


def outcomes_met(statistics: Json) -> list[str]:
    """The outcomes that some document had, in the order of the pipeline; `written` always."""
    total = statistics["total"]["outcomes"]
    return [outcome for outcome in OUTCOMES if outcome == "written" or total[outcome]["documents"]]


def duplicates(outcomes: Json) -> int:
    """Documents that were removed as duplicates of any kind."""
    return sum(outcomes[outcome]["documents"] for outcome in DUPLICATES)


def compared(dataset: Json) -> int:
    """Documents that the rules leave, and that deduplication comes to."""
    outcomes = dataset["outcomes"]
    return duplicates(outcomes) + sum(outcomes[outcome]["documents"] for outcome in ("pending", "written"))


def share(part: int, whole: int) -> str:
    """A share in percent that says 0 and 100 only of none and all; empty where there is no whole."""
    if not whole:
        return ""
    percent = f"{100 * part / whole:.1f}"
    if percent == "0.0" and part:
        return "< 0.1 %"
    return "> 99.9 %" if percent == "100.0" and part < whole else f"{percent} %"


def tokens(count: Json) -> str:
    """Counted tokens; with ≈ before them where some are estimated; empty where nothing was tokenized."""
    if count.get("tokens_estimated"):
        return f"≈ {count['tokens_estimated'] + count.get('tokens', 0):,}"
    return f"{count['tokens']:,}" if count.get("tokens") else ""


def number(value: Any) -> str:
    """A signal's value or a bound, to four significant digits."""
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def threshold(rule: Json) -> str:
    """The test and bound of a rule (`to_json`): `min 3`, `allow en, de`; of several `all of (n_words min 3, …)`."""
    if "parts" in rule:
        before = f"{rule['name']}."
        parts = [(part["name"].removeprefix(before).removesuffix(f".{part['test']}"), part) for part in rule["parts"]]
        return f"{rule['test']} of ({', '.join(f'{name} {threshold(part)}' for name, part in parts)})"
    bound = rule["bound"]
    return f"{rule['test']} {', '.join(bound) if isinstance(bound, list) else number(bound)}"


def size_class(smallest: str) -> str:
    """The sizes of clusters that are counted together, from the smallest of them, a power of two: `1`, `4 to 7`."""
    low = int(smallest)
    return f"{low:,} to {2 * low - 1:,}" if low > 1 else smallest
