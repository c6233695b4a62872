"""Which node a task runs on."""

import os
import socket

from zydaflow.provenance.commits import NODE


def name_this_node() -> str:
    """Tells commit records the name of this worker's node, as `session.named` gives it, and returns it."""
    import ray

    name = os.environ[NODE] = f"{socket.gethostname()} {ray.get_runtime_context().get_node_id()[:6]}"
    return name
