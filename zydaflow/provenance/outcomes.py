"""What becomes of a record: exactly one of these, in the order of the pipeline."""

OUTCOMES = (
    "unreadable",  # it could not be parsed, decoded or processed, and lies in quarantine
    "null",  # it holds no text
    "empty",  # nothing is left of its text without whitespace
    "filtered",  # it breaks a rule
    "removed_exact",  # a document of the same text, or of the same value of a column, stays for it
    "removed_within",  # a similar document of its own dataset stays for it
    "removed_across",  # a similar document of another dataset, or of an index, stays for it
    "pending",  # kept so far; the run did not come to it yet
    "written",  # it is in the corpus
)

DUPLICATES = tuple(outcome for outcome in OUTCOMES if outcome.startswith("removed_"))
