"""A signal that fails on marked documents, in every Python process that finds this file on its path."""

import ctypes
import importlib.util
import os
import signal
import sys
from types import ModuleType

REGISTRY = "zydaflow.signals.registry"
SIGNAL = "test.hostile"
LIMIT = int(os.environ.get("HOSTILE_LIMIT", 1_500_000))  # bytes at once that are too many where a document says so


def _fail(data: bytes) -> None:
    if b"<exit>" in data:
        os._exit(3)
    if b"<crash>" in data:
        ctypes.string_at(0)
    if b"<hang>" in data:
        ctypes.PyDLL(None).sleep(3600)  # native code that does not let go of the interpreter
    if b"<raise>" in data:
        raise ValueError("a fault in the code")
    if b"<memory>" in data and len(data) > LIMIT:
        raise MemoryError("so many bytes at once")
    if b"<killed>" in data and len(data) > LIMIT:
        os.kill(os.getpid(), signal.SIGKILL)


def _register(registry: ModuleType) -> None:
    import numpy as np

    from zydaflow.signals.signal import Measure, Signal

    def measure(raw, transformed, resources):
        _fail(bytes(raw.data[raw.offsets[0] : raw.offsets[-1]]))
        return {SIGNAL: np.zeros(len(raw.offsets) - 1, np.int64)}

    hostile = Signal(SIGNAL, "integer", "", "Nothing.", "the tests", np.arange(3.0))
    registry.MEASURES = (*registry.MEASURES, Measure("hostile", 1, (hostile,), measure))
    registry.SIGNALS[SIGNAL] = hostile


class _Finder:
    """Adds the signal when the registry is imported."""

    def find_spec(self, name: str, path: object, target: object = None):
        if name != REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_register(module: ModuleType) -> None:
            execute(module)
            _register(module)

        spec.loader.exec_module = execute_and_register
        return spec


sys.meta_path.insert(0, _Finder())
