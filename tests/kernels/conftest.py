import pyarrow as pa
import pytest

from zydaflow.kernels.text import Text, from_arrow


@pytest.fixture(scope="session")
def as_buffers():
    """Texts as the buffers that kernels take, behind another document, so that the offsets do not begin at 0."""

    def convert(texts: list[str]) -> Text:
        return from_arrow(pa.array(["sex  \u00a0a@b.co....1", *texts], pa.large_string())[1:])

    return convert
