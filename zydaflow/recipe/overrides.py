"""`--set KEY=VALUE`: values of the recipe replaced from the command line."""

from difflib import get_close_matches
from typing import Any

from zydaflow.errors import RecipeError
from zydaflow.recipe.yamltext import Key, key_text, read_yaml


def apply_override(data: dict[str, Any], override: str) -> Key:
    """Sets one value in `data`, in place, and returns its key.

    The key is dotted, items of a list go by number and datasets by name too: `dedup.threshold=0.8`,
    `datasets.blog.sample=0.1`, `datasets[0].sample=0.1`. The value is read as YAML. Raises RecipeError where
    the override cannot be read or leads nowhere; whether the last key exists is for the model to say.
    """
    label = f"--set {override}"
    path, equals, text = override.partition("=")
    parts = [part for part in path.strip().replace("[", ".").replace("]", "").split(".") if part]
    if not equals or not parts:
        raise RecipeError(f"{label}: write KEY=VALUE, like dedup.threshold=0.8")
    value, _ = read_yaml(text, label)
    key: Key = ()
    target: Any = data
    while True:
        part, parts = _next_part(target, parts, key, label)
        key = (*key, part)
        if not parts:
            target[part] = value
            return key
        if isinstance(target, dict) and target.get(str(part)) is None:
            target[part] = {}
        target = target[part]


def _next_part(target: Any, parts: list[str], key: Key, label: str) -> tuple[str | int, list[str]]:
    """The key in `target` that `parts` begin with (dataset names may hold dots), and the parts that follow."""
    if isinstance(target, dict):
        return parts[0], parts[1:]
    where = key_text(key)
    if not isinstance(target, list):
        raise RecipeError(f"{label}: {where} is {target!r} and has no keys; set {where} as a whole")
    if parts[0].isdigit() and int(parts[0]) < len(target):
        return int(parts[0]), parts[1:]
    names = {item["name"]: index for index, item in enumerate(target) if isinstance(item, dict) and "name" in item}
    for length in range(len(parts), 0, -1):
        if (name := ".".join(parts[:length])) in names:
            return names[name], parts[length:]
    raise RecipeError(f"{label}: {where} has no item {parts[0]}{_advice(parts[0], names, len(target))}")


def _advice(part: str, names: dict[str, int], count: int) -> str:
    near = get_close_matches(part, names, n=1)
    known = ", ".join([f"0 to {count - 1}" if count else "none", *names])
    return f"; did you mean {near[0]}?" if near else f"; there are: {known}"
