"""Which form of data a file holds, told from its name alone."""

SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonl.gz": "jsonl.gz",
    ".ndjson.gz": "jsonl.gz",
    ".json.gz": "jsonl.gz",  # what the hub calls JSON Lines when it is compressed; a bare .json is as often settings
    ".jsonl.zst": "jsonl.zst",
    ".ndjson.zst": "jsonl.zst",
    ".json.zst": "jsonl.zst",
    ".parquet": "parquet",
    ".arrow": "arrow",
}


def form_of(path: str) -> str | None:
    """The form (`Shard.form`) of the file of this name: jsonl, jsonl.gz, jsonl.zst, parquet or arrow; else None."""
    name = path.lower()
    return next((form for suffix, form in SUFFIXES.items() if name.endswith(suffix)), None)
