"""A tokenizer that reads every text as ordinary text, control tokens included."""

import json

import tokenizers

from zydaflow.errors import InputError

# No text from a page holds this: U+FDD0 is a noncharacter, which Unicode keeps out of interchange.
UNREACHABLE = "\ufdd0{}\ufdd0"


def literal_forms(token: str) -> list[str]:
    """Texts that hold a control token literally, in the places where tokenizers treat it differently."""
    return [token, f"a {token} b", f"a{token}b", f"a\n{token}\n\nb"]


def as_text(definition: dict, end_of_text: str) -> tuple[str, tokenizers.Tokenizer]:
    """The tokenizer.json, and its tokenizer, in which no literal control token in a text gives the control token's id.

    `encode_special_tokens` does that for the added tokens that are flagged as special. Models that look whole words up
    (Unigram, WordLevel, WordPiece) find control tokens in their vocabulary nevertheless; these keep their ids under a
    name that no text holds. Raises InputError for a tokenizer whose end-of-text token is made of ordinary text.
    """
    added = [{**token, "special": token["special"] or token["content"] == end_of_text} for token in _added(definition)]
    tokenizer = _build({**definition, "added_tokens": added})
    unknown = _unknown(definition["model"])
    controls = {token["content"] for token in added if token["special"]} | {end_of_text}
    leaking = {
        token for token in controls if token != unknown and _leaks(tokenizer, token, tokenizer.token_to_id(token))
    }
    if not leaking:
        return json.dumps({**definition, "added_tokens": added}), tokenizer
    kept = [token for token in added if token["content"] not in leaking]
    renamed = {**definition, "added_tokens": kept, "model": _rename(definition["model"], leaking)}
    try:
        settled = _build(renamed)
    except ValueError:  # merges make the token
        settled = tokenizer
    if _leaks(settled, end_of_text, tokenizer.token_to_id(end_of_text)):
        raise InputError(
            f"{end_of_text!r} cannot end documents: this tokenizer gives the same id where a page holds it as text. "
            "Name another token: `tokenizer: {path:, end_of_text:}`."
        )
    return json.dumps(renamed), settled


def _build(definition: dict) -> tokenizers.Tokenizer:
    """Raises ValueError for what is no tokenizer."""
    try:
        tokenizer = tokenizers.Tokenizer.from_str(json.dumps(definition))
    except Exception as error:  # the library raises nothing narrower
        raise ValueError(str(error)) from error
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
    return any(number in tokenizer.encode(text, add_special_tokens=False).ids for text in literal_forms(token))


def _rename(model: dict, tokens: set[str]) -> dict:
    names = {token: UNREACHABLE.format(number) for number, token in enumerate(sorted(tokens))}
    if isinstance(model["vocab"], dict):
        return {**model, "vocab": {names.get(token, token): number for token, number in model["vocab"].items()}}
    return {**model, "vocab": [[names.get(token, token), score] for token, score in model["vocab"]]}
