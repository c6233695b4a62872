import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from small import EXPECTED, HOSTILE

import zydaflow
from zydaflow import Run, open_run, verify
from zydaflow.dedup.evidence import CLUSTERS, REMOVED
from zydaflow.errors import InputError


@pytest.fixture(scope="module")
def run(small_run: Path) -> Run:
    return open_run(small_run)


def test_every_name_of_the_package_is_there() -> None:
    for name in zydaflow.__all__:
        assert getattr(zydaflow, name).__name__ == name
        assert name in dir(zydaflow)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = zydaflow.nonsense


@pytest.mark.parametrize("code", ["import zydaflow", "import zydaflow.cli as cli; cli._parser().format_help()"])
def test_importing_the_package_imports_nothing_heavy(code: str) -> None:
    heavy = "{'numpy', 'pyarrow', 'numba', 'ray', 'datasets', 'pydantic', 'yaml'}"
    check = f"import sys; {code}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_the_run_accounts_for_every_document(run: Run, small_run: Path) -> None:
    assert verify(small_run) == []
    assert run.datasets == ["a", "b"]
    for name, expected in EXPECTED.items():
        outcomes = run.statistics["datasets"][name]["outcomes"]
        assert {outcome: outcomes[outcome]["documents"] for outcome in expected} == expected
    assert run.recipe.name == "small"
    assert run.made_of["finished"]


def test_signals_have_a_row_for_every_record_with_a_place(run: Run) -> None:
    table = run.signals("a")
    verdicts = Counter(table["verdict"].to_pylist())
    assert verdicts == {"kept": 27, "filtered": 4, "null": 1, "empty": 1}
    assert table["n_words"].type == "int64"
    row = next(row for row in table.to_pylist() if row["excerpt"] == HOSTILE)
    assert (row["id"], row["verdict"], row["broken"]) == ("a27", "filtered", ["n_words.min"])
    assert set(run.signals()["dataset"].to_pylist()) == {"a", "b"}
    assert run.signals(columns=["n_words", "id"]).column_names == ["n_words", "id"]


def test_evidence_and_quarantine_are_tables(run: Run) -> None:
    removed = run.removed()
    assert removed.schema.equals(REMOVED)
    outcomes = Counter(zip(removed["dataset"].to_pylist(), removed["outcome"].to_pylist(), strict=True))
    assert outcomes == {("a", "removed_within"): 3, ("b", "removed_across"): 6, ("b", "removed_within"): 1}
    clusters = run.clusters()
    assert sum(clusters["size"].to_pylist()) - sum(clusters["kept"].to_pylist()) == 10
    (bad,) = run.quarantine().to_pylist()
    assert (bad["dataset"], bad["file"], bad["excerpt"]) == ("a", "a.jsonl", '{"id": "broken", "text": ')


def test_the_corpus_is_memory_mapped(run: Run, small_run: Path) -> None:
    corpus = run.corpus("b")
    assert len(corpus) == 20
    assert [Path(file["filename"]).parent for file in corpus.cache_files] == [small_run / "corpus" / "b"]
    assert sum(corpus["n_duplicates"]) == 1


def test_rules_are_in_the_recipes_order(run: Run) -> None:
    names = [rule.name for rule in run.rules("a")]
    assert names == ["n_words.min", "zyda.fraction_numerical.max", "zyda.mean_word_length.max"]


def test_tables_without_a_file_are_empty_and_have_their_schema(run: Run) -> None:
    bare = Run(run.root, {**run.made_of, "outputs": []})
    assert bare.removed().schema.equals(REMOVED)
    assert bare.clusters().schema.equals(CLUSTERS)
    assert bare.quarantine().schema.equals(run.quarantine().schema)
    assert len(bare.removed()) == len(bare.clusters()) == len(bare.quarantine()) == 0
    with pytest.raises(InputError, match="no signals yet"):
        bare.signals()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run\.json that can be read"):
        open_run(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(InputError, match=r"no run\.json that can be read"):
        open_run(tmp_path)


def test_unknown_names_are_refused(run: Run) -> None:
    with pytest.raises(InputError, match="no dataset 'c' in this run, which has a, b"):
        run.corpus("c")
    with pytest.raises(InputError, match=r"did you mean n_words\?"):
        run.signals("a", ["n_word"])
