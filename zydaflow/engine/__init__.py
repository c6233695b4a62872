"""Ray: the session, and running a stage's units on it. It knows no document."""

from zydaflow.engine.disk import explained
from zydaflow.engine.run import run_units
from zydaflow.engine.session import on_every_node, session

__all__ = ["explained", "on_every_node", "run_units", "session"]
