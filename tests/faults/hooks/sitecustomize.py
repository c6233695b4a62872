"""Faults in real processes: every Python process that finds this file on its path looks for orders when it commits.

An order is a file `<stage>.<before|after>.<fault>` in the folder that ZYDAFLOW_FAULTS names. It is carried out once, by
whichever process commits a unit of that stage first; but an `error` is lasting.
"""

import importlib.util
import os
import signal
import sys
import time
from pathlib import Path

FOLDER = os.environ.get("ZYDAFLOW_FAULTS")
COMMITS = "zydaflow.provenance.commits"


def _kill_worker(order: Path, when: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _kill_driver(order: Path, when: str) -> None:
    pid = order.with_name("driver.pid")
    _until(pid.exists)
    os.kill(int(pid.read_text()), signal.SIGKILL)
    if when == "before":
        os.kill(os.getpid(), signal.SIGKILL)


def _kill_node(order: Path, when: str) -> None:
    os.kill(os.getppid(), signal.SIGKILL)  # the raylet
    os.kill(os.getpid(), signal.SIGKILL)


def _fail(order: Path, when: str) -> None:
    raise KeyError("nobody foresaw this")


FAULTS = {"worker": _kill_worker, "driver": _kill_driver, "node": _kill_node, "error": _fail}


def _until(condition) -> None:
    while not condition():
        time.sleep(0.01)


def _meet(stage: str, unit: str, when: str) -> None:
    hold = Path(FOLDER, f"{stage}.{when}.hold")
    if hold.exists() and _concerns(hold, unit):
        hold.with_name(f"{hold.name}.{os.getpid()}").touch()
        _until(lambda: not hold.exists())
    for name, fault in FAULTS.items():
        order = Path(FOLDER, f"{stage}.{when}.{name}")
        if order.exists() and _concerns(order, unit) and (name == "error" or _taken(order)):
            fault(order, when)


def _concerns(order: Path, unit: str) -> bool:
    """An order may name units, or raylets whose workers it is for; it is then not for others."""
    names = order.read_text().split()
    return not names or str(os.getppid()) in names or unit in names


def _taken(order: Path) -> bool:
    try:
        order.rename(order.with_suffix(".done"))
    except FileNotFoundError:  # another process was first
        return False
    return True


class _Finder:
    """Puts the orders around `Store.commit` when its module is imported."""

    def find_spec(self, name: str, path: object, target: object = None):
        if name != COMMITS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_change(module) -> None:
            execute(module)
            commit = module.Store.commit

            def changed(store, record):
                _meet(record.stage, record.unit, "before")
                made = commit(store, record)
                store.path(made.name)  # waits for it: it may be under way behind the work
                _meet(record.stage, record.unit, "after")
                return made

            module.Store.commit = changed

        spec.loader.exec_module = execute_and_change
        return spec


if FOLDER:
    sys.meta_path.insert(0, _Finder())
