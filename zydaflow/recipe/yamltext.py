"""YAML text as plain values and, beside them, the line of each key."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import yaml

from zydaflow.errors import RecipeError

Key = tuple[str | int, ...]

_SCALARS = {
    "null": (r"null|Null|NULL|~|", ["n", "N", "~", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)", list("-+.0123456789")),
    "merge": (r"<<", ["<"]),
}


class _Loader(yaml.SafeLoader):
    """The safe loader with the scalars of YAML 1.2.2 (section 10.3.2): `no` is a language and 1e-3 a number.

    A number with a leading zero, on which YAML 1.1 and 1.2 differ, is text.
    """

    yaml_implicit_resolvers: dict = {}  # noqa: RUF012 (the name and form are PyYAML's)


class _Dumper(yaml.SafeDumper):
    """The safe dumper, which also quotes text that only YAML 1.2 takes for a number, like 1e3."""

    def represent_str(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')


_Dumper.add_representer(str, _Dumper.represent_str)

for _tag, (_pattern, _first) in _SCALARS.items():
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def read_yaml(text: str, name: str) -> tuple[Any, yaml.Node | None]:
    """The value of a YAML document, and its nodes for `line_of`; None and None where it is empty.

    `name` is what errors call the text. Raises RecipeError for text that is not YAML and for keys given twice.
    """
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None, None
        if twice := list(_duplicates(node, (), set())):
            raise RecipeError(
                "\n".join(f"{name}:{second}: {key}: given twice; first in line {first}" for key, first, second in twice)
            )
        return loader.construct_document(node), node
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise RecipeError(f"{name}:{mark.line + 1 if mark else 1}: not valid YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise RecipeError(f"{name}: not valid YAML: {' '.join(str(error).split())}") from error


def write_yaml(value: Any) -> str:
    """The YAML of plain values, keys in their order; readers of YAML 1.1 and 1.2 both give the values back."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=sys.maxsize)


def write_scalar(text: str) -> str:
    """`text` as one line of YAML that holds as a value, also inside [] and {}."""
    flow = yaml.dump([text], Dumper=_Dumper, default_flow_style=True, allow_unicode=True, width=sys.maxsize)
    return flow[1:-2]


def comment_text(text: str, length: int = 90) -> str:
    """The beginning of any text as one line that may stand in a comment."""
    line = " ".join(text[: 4 * length].split())
    line = "".join(character if character.isprintable() else "?" for character in line)
    return line if len(line) <= length else f"{line[: length - 1]}…"


def key_text(key: Key) -> str:
    """`datasets[1].sample` for ("datasets", 1, "sample")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")


def line_of(node: yaml.Node | None, key: Key) -> tuple[int, int]:
    """The line of the longest beginning of `key` that the text has, and the number of parts of that beginning."""
    line = node.start_mark.line + 1 if node else 1
    for depth, part in enumerate(key):
        found = _child(node, part)
        if found is None:
            return line, depth
        line, node = found[0].start_mark.line + 1, found[1]
    return line, len(key)


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The node of the key (of the item, in a list) and the node of the value."""
    if isinstance(node, yaml.MappingNode):
        return next((pair for pair in node.value if pair[0].value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    return None


def _duplicates(node: yaml.Node, key: Key, seen: set[int]) -> Iterator[tuple[str, int, int]]:
    """(key, first line, second line) of keys that a mapping has twice; an aliased node is looked at once."""
    if id(node) in seen or isinstance(node, yaml.ScalarNode):
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _duplicates(item, (*key, index), seen)
        return
    lines: dict[str, int] = {}
    for name, value in node.value:
        here, text = name.start_mark.line + 1, str(name.value)
        if text in lines:
            yield key_text((*key, text)), lines[text], here
        lines.setdefault(text, here)
        yield from _duplicates(value, (*key, text), seen)
