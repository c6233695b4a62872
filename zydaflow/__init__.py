"""zydaflow turns open text datasets into one filtered, deduplicated, tokenized corpus with provenance."""

__version__ = "0.1.0"
