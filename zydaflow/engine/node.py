"""Which node a task runs on."""

import os
import socket

from zydaflow.provenance.commits import NODE


def name_this_node() -> None:
    """Tells commit records the name of this worker's node, as `session.named` gives it."""
    import ray

    os.environ[NODE] = f"{socket.gethostname()} {ray.get_runtime_context().get_node_id()[:6]}"
