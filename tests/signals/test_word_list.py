import json

import pyarrow as pa
import pytest

from zydaflow import signals
from zydaflow.errors import InputError
from zydaflow.signals import Resources
from zydaflow.signals.resources import WORD_LISTS
from zydaflow.signals.word_list import Entry, parse_entry, read_list

# Every entry of the four lists of MADLAD-400 with a character that is special in regular expressions, each with texts
# and how often it matches them. (A plain dot, as in " ... ...", is special too, and literal here.)
SPECIAL = {
    r"\|\s*$": {"a|": 1, "a| \n\t\u00a0": 1, "a||": 1, "|a": 0, r"\|": 1, r"\|\s*$": 0, "": 0, "|\u200b": 0},
    r" nr\.$": {"see nr.": 1, "see nr.\n": 1, "see nr. 5": 0, " nr. nr.": 1, "nr.": 0, " nrx": 0, r" nr\.": 0},
    r"Vol\.": {"Vol. 1, Vol. 2": 2, "Volume": 0, r"Vol\.": 0, "vol.": 0},
    r" Ep\.": {"an Ep. 1": 1, "Ep. 1": 0, " Epic": 0},
    r" г\.\s*$": {"2020 г.": 1, "2020 г. \n": 1, "2020 г. Москва": 0, " га": 0},
    r" кг\.\s*$": {"5 кг.": 1, "5 кг.\u2003": 1, "5 кг. и": 0},
    r" шт\.": {"5 шт. и 6 шт.": 2, " штат": 0},
    " [^ ]" * 9: {" a" * 9: 0, " [^ ]" * 9: 1, " [^ ]" * 8: 0, " [^ ]" * 19: 2},
    ", ..,,? ..,,? ..,,? ..,,?": {
        ", ..,,? ..,,? ..,,? ..,,?": 1,
        ", ab,,c de,,f gh,,i jk,,l": 0,
        ", ab, cd, ef, gh,": 0,
    },
    " ..." * 9: {" ..." * 9: 1, " abc" * 9: 0, " ..." * 18: 2, " ..." * 8: 0},
    " ...." * 9: {" ...." * 9: 1, " abcd" * 9: 0},
}


def counts_of(entries, texts, tmp_path):
    """How often the entries match the texts, through a list in a file, as a run counts them."""
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"words": entries}), encoding="utf-8")
    resources = Resources((str(path), *Resources.word_lists[1:]))
    array = pa.array(texts, pa.large_string())
    name = f"zyda.word_list_counts.{WORD_LISTS[0]}"
    return signals.measure([name], array, array, resources)[name].to_pylist()


@pytest.mark.parametrize("entry", SPECIAL)
def test_special_entry(entry, tmp_path):
    texts = list(SPECIAL[entry])
    assert dict(zip(texts, counts_of([entry], texts, tmp_path), strict=True)) == SPECIAL[entry]


def test_special_entries_are_those_of_the_lists(shared_data):
    entries = [e for file in (shared_data / "wordlists").iterdir() for e in json.loads(file.read_text())["words"]]
    assert len(entries) == 149
    assert {entry for entry in entries if set(entry) & set(r"\$[](){}^*+?|.")} == set(SPECIAL)


def test_entries_count_each_for_itself_and_without_overlap(tmp_path):
    entries = [" sex ", "ownload", "load", "load"]
    assert counts_of(entries, [" sex sex sex ", "Download", "sex"], tmp_path) == [2, 3, 0]


@pytest.mark.parametrize(
    ("entry", "parsed"),
    [
        ("$", Entry("", True)),
        (r"a\$", Entry("a$", False)),
        (r"a\\$", Entry("a\\", True)),
        (r"a\\s*$", Entry(r"a\s*", True)),
        ("a$b", Entry("a$b", False)),
        (r"a\s*", Entry("as*", False)),
        ("a\\", Entry("a\\", False)),
    ],
)
def test_parsing(entry, parsed):
    assert parse_entry(entry) == parsed


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.json", '{"words": [" a ", "b"]}'),
        ("l.json", '[" a ", "b"]'),
        ("l.txt", " a \n\n  \nb\n"),
        ("l", "\ufeff a \nb"),
    ],
)
def test_forms(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert [entry.literal for entry in read_list(str(tmp_path / name))] == [" a ", "b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"words": "a"}', "list of strings"),
        (b"{}", "list of strings"),
        (b"[]", "not empty"),
        (b'["a", 1]', "entry 2 is 1"),
        (b'["a", ""]', "entry 2 is ''"),
        (b'["$"]', r"entry 1 is '\$'"),
        (b"[", "Expecting value"),
        (b'["\xff"]', "utf-8"),
    ],
)
def test_errors_name_the_path(tmp_path, content, message):
    path = tmp_path / "l.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read_list(str(path))
    assert str(path) in str(error.value)


def test_missing_file_is_named():
    with pytest.raises(InputError, match=r"word list /nowhere/l\.json: cannot be read"):
        read_list("/nowhere/l.json")


def test_own_lists_are_short_and_usable():
    for path in Resources().word_lists:
        assert 5 <= len(read_list(path)) <= 30
