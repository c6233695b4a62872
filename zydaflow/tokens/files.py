"""Where a tokenizer's files are: on this machine, or on the hub."""

import json
import tempfile
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

from zydaflow.errors import InputError
from zydaflow.storage import is_url, path_of, read, stamp

TOKENIZER = "tokenizer.json"
CONFIGS = ("tokenizer_config.json", "special_tokens_map.json")


def locate(name: str) -> Path:
    """The tokenizer.json that is meant by a path to one, a folder that holds one, or a hub name.

    Raises InputError if there is none, or the hub cannot be reached.
    """
    path = _copied(name, stamp(path_of(name))) if is_url(name) else Path(name).expanduser()
    if path.is_file():
        return path
    folder = path if path.is_dir() else _download(name)
    if not (folder / TOKENIZER).is_file():
        raise InputError(
            f"the tokenizer {name} has no {TOKENIZER} in {folder}. Tokenizers of other forms can be converted: "
            f"transformers.AutoTokenizer.from_pretrained({name!r}).save_pretrained(FOLDER) writes one."
        )
    return folder / TOKENIZER


@lru_cache(maxsize=4)
def _copied(url: str, stamped: str) -> Path:
    """A copy on this machine of a tokenizer.json, with what lies beside it."""
    folder, name = Path(_copies().name, stamped), url.rpartition("/")[2]
    folder.mkdir()
    for path in [path_of(url), *(path_of(url).parent / config for config in CONFIGS)]:
        with suppress(FileNotFoundError):
            (folder / path.name).write_bytes(read(path))
    return folder / name


@cache
def _copies() -> tempfile.TemporaryDirectory[str]:
    """Goes with the process."""
    return tempfile.TemporaryDirectory(prefix="zydaflow-")


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download  # only hub names need it
    from huggingface_hub.errors import HFValidationError

    try:
        return Path(snapshot_download(name, allow_patterns=[TOKENIZER, *CONFIGS]))
    except HFValidationError as error:  # of the name's form: it was meant as a path
        raise InputError(f"the tokenizer {name}: no such file or folder, and this is no name on a hub") from error
    except (OSError, ValueError) as error:
        raise InputError(
            f"the tokenizer {name} is no file or folder here, and the hub did not give it: {error}\n"
            "Give the path of a tokenizer.json; or, for a hub name, set HF_ENDPOINT to a hub that can be reached, "
            "HF_HOME to a folder whose cache holds it, and HF_HUB_OFFLINE=1 to look nowhere else."
        ) from error


def configured_end_of_text(tokenizer: Path) -> str | None:
    """The end-of-text token that the configuration files beside a tokenizer.json name; None where none does."""
    if tokenizer.name != TOKENIZER:  # of another name: what lies beside it may belong to another tokenizer
        return None
    for name in CONFIGS:
        file = tokenizer.with_name(name)
        if file.is_file():
            token = _read(file).get("eos_token")
            token = token.get("content") if isinstance(token, dict) else token
            if token:
                return str(token)
    return None


def _read(file: Path) -> dict:
    try:
        content = json.loads(file.read_bytes())
    except ValueError as error:
        raise InputError(f"{file} is no JSON file: {error}") from error
    if not isinstance(content, dict):
        raise InputError(f"{file} holds no JSON object")
    return content
