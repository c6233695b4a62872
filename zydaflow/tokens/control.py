"""A tokenizer that reads every text as ordinary text, control tokens included."""

import json

import tokenizers

from zydaflow.tokens.libraries import build, encode_slowly

# No text from a page holds this: U+FDD0 is a noncharacter, which Unicode keeps out of interchange.
UNREACHABLE = "\ufdd0{}\ufdd0"


def literal_forms(token: str) -> list[str]:
    """Texts that hold a control token literally, in the places where tokenizers treat it differently."""
    return [token, f"a {token} b", f"a{token}b", f"a\n{token}\n\nb"]


def as_text(definition: dict, end_of_text: str) -> tuple[str, tokenizers.Tokenizer]:
    """The tokenizer.json, and its tokenizer, in which a literal control token in a text is ordinary text.

    `encode_special_tokens` does that for the added tokens that are flagged as special. Models that look whole words up
    (Unigram, WordLevel, WordPiece) find control tokens in their vocabulary nevertheless; these keep their ids under a
    name that no text holds. A token that merges make of ordinary text stays what it is.

    Raises RunError if the tokenizer cannot encode its own control tokens.
    """
    added = [{**token, "special": token["special"] or token["content"] == end_of_text} for token in _added(definition)]
    plain = {**definition, "added_tokens": added}
    tokenizer = _build(plain)
    unknown = _unknown(definition["model"])
    controls = {token["content"] for token in added if token["special"]} | {end_of_text}
    leaking = {
        token for token in controls if token != unknown and _leaks(tokenizer, token, tokenizer.token_to_id(token))
    }
    if not leaking:
        return json.dumps(plain), tokenizer
    kept = [token for token in added if token["content"] not in leaking]
    renamed = {**definition, "added_tokens": kept, "model": _rename(definition["model"], leaking)}
    try:
        return json.dumps(renamed), _build(renamed)
    except ValueError:  # merges make the token
        return json.dumps(plain), tokenizer


def _build(definition: dict) -> tokenizers.Tokenizer:
    tokenizer = build(json.dumps(definition))
    tokenizer.encode_special_tokens = True
    return tokenizer


def _added(definition: dict) -> list[dict]:
    return definition.get("added_tokens") or []


def _unknown(model: dict) -> str | None:
    """What stands for unknown text: its literal gives its id by its meaning."""
    if model.get("unk_id") is not None:
        return model["vocab"][model["unk_id"]][0]
    return model.get("unk_token")


def _leaks(tokenizer: tokenizers.Tokenizer, token: str, number: int | None) -> bool:
    """Whether a text that holds the token literally gives its id."""
    return any(number in ids for ids in encode_slowly(tokenizer, literal_forms(token)))


def _rename(model: dict, tokens: set[str]) -> dict:
    names = {token: UNREACHABLE.format(number) for number, token in enumerate(sorted(tokens))}
    if isinstance(model["vocab"], dict):
        return {**model, "vocab": {names.get(token, token): number for token, number in model["vocab"].items()}}
    return {**model, "vocab": [[names.get(token, token), score] for token, score in model["vocab"]]}
