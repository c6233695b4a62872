"""Ray: the session, and running a stage's units on it. It knows no document."""

from zydaflow.engine.disk import explained
from zydaflow.engine.pool import Pool
from zydaflow.engine.preflight import Nodes, preflight
from zydaflow.engine.progress import begin_progress
from zydaflow.engine.run import run_units
from zydaflow.engine.session import on_every_node, session

__all__ = ["Nodes", "Pool", "begin_progress", "explained", "on_every_node", "preflight", "run_units", "session"]
