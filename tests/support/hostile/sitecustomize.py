"""Faults on marked documents, in every Python process that finds this file on its path.

`<exit>` and the like are met by a signal, `<tokens-exit>` by the tokenizer, `<training-exit>` by who trains
one, `<reading-exit>` by who parses lines of JSON.
"""

import ctypes
import importlib.util
import os
import resource
import signal
import sys
from types import ModuleType

SIGNAL = "test.hostile"
LIMIT = 1_500_000  # bytes at once that are too many where a document says so
GREED = 100  # bytes that are taken for each of a greedy document's
ROOM = GREED * LIMIT  # bytes that a process may take for them
GROWTH = int(os.environ.get("HOSTILE_GROWTH", 0))  # bytes that one takes until it is killed
CALM = os.environ.get("HOSTILE_CALM", "")  # a file that makes memory suffice


def _fail(data: bytes, at: bytes = b"") -> None:
    if b"<%bexit>" % at in data:
        os._exit(3)
    if b"<%bcrash>" % at in data:
        ctypes.string_at(0)
    if b"<%bhang>" % at in data:
        ctypes.PyDLL(None).sleep(3600)  # native code that does not let go of the interpreter
    if b"<%braise>" % at in data:
        raise ValueError("a fault in the code")


def _want_memory(data: bytes) -> None:
    if os.path.exists(CALM):
        return
    if b"<memory>" in data and len(data) > LIMIT:
        raise MemoryError("so many bytes at once")
    if b"<killed>" in data and len(data) > LIMIT:
        os.kill(os.getpid(), signal.SIGKILL)
    if b"<growing>" in data and len(data) > LIMIT:
        _grow()
    if b"<greedy>" in data:
        _take(len(data) * GREED)


def _take(size: int) -> None:
    """Really takes memory, of which a process has no more than ROOM."""
    import numpy as np

    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        address_space = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (address_space + ROOM, before[1]))
    try:
        np.ones(size, np.uint8)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _grow() -> None:
    """Takes memory, and then waits to be killed for it."""
    import numpy as np

    step = 1 << 26
    taken = [np.ones(step, np.uint8) for _ in range(GROWTH // step)]
    signal.pause()
    del taken


def _register(registry: ModuleType) -> None:
    import numpy as np

    from zydaflow.signals.signal import Measure, Signal

    def measure(raw, transformed, resources):
        data = bytes(raw.data[raw.offsets[0] : raw.offsets[-1]])
        _fail(data)
        _want_memory(data)
        return {SIGNAL: np.zeros(len(raw.offsets) - 1, np.int64)}

    hostile = Signal(SIGNAL, "integer", "", "Nothing.", "the tests", np.arange(3.0))
    registry.MEASURES = (*registry.MEASURES, Measure("hostile", 1, (hostile,), measure))
    registry.SIGNALS[SIGNAL] = hostile


def _spoil_tokenizers(libraries: ModuleType) -> None:
    encode = libraries.encode

    def spoiled(fast, reference, texts):
        _fail("".join(texts).encode(), b"tokens-")
        return encode(fast, reference, texts)

    libraries.encode = spoiled


def _spoil_training(module: ModuleType) -> None:
    train = module.train

    def spoiled(texts, vocab_size):
        texts = list(texts)
        for batch in texts:
            _fail("".join(batch.to_pylist()).encode(), b"training-")
        return train(texts, vocab_size)

    module.train = spoiled


def _spoil_parsing(jsonl: ModuleType) -> None:
    read_lines = jsonl.read_lines

    def spoiled(run, columns, sample, part):
        _fail(b"".join(run.lines), b"reading-")
        return read_lines(run, columns, sample, part)

    jsonl.read_lines = spoiled


CHANGES = {
    "zydaflow.signals.registry": _register,
    "zydaflow.tokens.libraries": _spoil_tokenizers,
    "zydaflow.tokens.train": _spoil_training,
    "zydaflow.sources.jsonl": _spoil_parsing,
}


class _Finder:
    """Changes modules when they are imported."""

    def find_spec(self, name: str, path: object, target: object = None):
        if name not in CHANGES:
            return None
        change = CHANGES.pop(name)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_change(module: ModuleType) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = execute_and_change
        return spec


sys.meta_path.insert(0, _Finder())
