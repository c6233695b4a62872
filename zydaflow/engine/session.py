"""Ray: starting one for a local run, joining one that is there, and leaving it as it was."""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from zydaflow.engine.watch import AT_ONCE, PATIENCE, joining, watched
from zydaflow.errors import RecipeError, RunError

# One thread per task: a worker is one core, so that figures per core are true and cores are not fought over.
WORKER_ENVIRONMENT = {
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
OBJECT_STORE_BYTES = 80_000_000  # tasks exchange paths, never tables


@contextlib.contextmanager
def session(address: str, workers: int | None = None) -> Iterator[None]:
    """A Ray to run tasks on: `local` starts one with `workers` cores (default: all), `auto` or HOST:PORT joins one.

    A Ray that was running before, in this process or elsewhere, is left running. Raises RecipeError for an address that
    makes no sense, RunError when nothing answers there.
    """
    if workers is not None and workers < 1:
        raise RecipeError(f"workers: {workers} is no number of cores, 1 or more")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    if ray.is_initialized():
        yield
        return
    common: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": "ERROR",
        "runtime_env": {"env_vars": WORKER_ENVIRONMENT},
    }
    with _no_handler_left():
        if address == "local":
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                **common,
            )
        else:
            _join(address, common)
    try:
        with watched(AT_ONCE if address == "local" else PATIENCE):
            yield
    finally:
        ray.shutdown()


@contextlib.contextmanager
def _no_handler_left() -> Iterator[None]:
    """SIGTERM stays with who handled it before: Ray's handlers end the process late, and with another status."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _join(address: str, common: dict[str, Any]) -> None:
    import ray

    if address != "auto":
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise RecipeError(f"--address: {address!r} is none of local, auto, HOST:PORT")
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as error:
            raise RunError(
                f"--address: no Ray cluster answers at {address} ({error}); is `ray start --head` running?"
            ) from error
    try:
        with joining(address):
            ray.init(address=address, **common)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RunError(
            f"--address: cannot join the Ray cluster at {address}: {str(error).rstrip('.')}. If it asks for a token, "
            "set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to a file with the token that its nodes were started with"
        ) from error


def workers() -> list[dict[str, Any]]:
    """The living nodes that do work, as Ray tells them."""
    import ray

    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]


def named(node: dict[str, Any]) -> str:
    """A node's host, and the beginning of its id, since a host may have several."""
    return f"{node['NodeManagerHostname']} {node['NodeID'][:6]}"


def ask_every_node(function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Calls the function once on each node that does work; returns Ray's references to the answers, by node."""
    return ask(workers(), function, *arguments)


def ask(nodes: Iterable[dict[str, Any]], function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """The same of some nodes."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_cpus=0, max_retries=1)(function)
    there = {named(node): NodeAffinitySchedulingStrategy(node["NodeID"], soft=True) for node in nodes}
    return {name: task.options(scheduling_strategy=strategy).remote(*arguments) for name, strategy in there.items()}


def on_every_node(function: Callable[..., None], *arguments: Any) -> None:
    """Calls the function once on each node, to its end: for what workers there would else all do at the same time."""
    import ray

    ray.get(list(ask_every_node(function, *arguments).values()))
