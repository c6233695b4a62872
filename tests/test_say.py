"""Words for whoever watches never stop the work."""

import io
import os
from pathlib import Path

from zydaflow.say import say


def test_a_stream_that_is_full_goes_quiet() -> None:
    with open("/dev/full", "w", encoding="utf-8") as stream:
        say("one", stream)
        say("two", stream)


def test_a_pipe_without_a_reader_goes_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as stream:
        say("one", stream)
        say("two", stream)


def test_a_terminal_of_another_encoding_is_told_what_it_can_show(tmp_path: Path) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    say("about ≈ 5", stream)
    assert stream.buffer.getvalue() == b"about ? 5\n"  # type: ignore[attr-defined]
