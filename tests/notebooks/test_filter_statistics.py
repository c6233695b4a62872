from collections import Counter
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from small import HOSTILE

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "filter_statistics.ipynb"


@pytest.fixture(scope="module")
def notebook() -> nbformat.NotebookNode:
    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_is_committed_without_outputs(notebook: nbformat.NotebookNode) -> None:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_it_runs_from_top_to_bottom(
    notebook: nbformat.NotebookNode, small_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZYDAFLOW_RUN", str(small_run))
    done = NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    outputs = {cell.id: cell.outputs for cell in done.cells if cell.cell_type == "code"}
    pictures = Counter(name for name, of in outputs.items() for output in of if "image/png" in output.get("data", {}))
    assert pictures == {"signals": 3, "rule-bars": 1, "whatif": 1, "overlap": 1, "alike": 1}
    near = "".join(output["data"]["text/html"] for output in outputs["near"] if "text/html" in output["data"])
    assert "&lt;script&gt;alert(" in near
    assert "<script" not in near
    assert HOSTILE[-9:] in near
    assert not any(output.output_type == "stream" for of in outputs.values() for output in of)
