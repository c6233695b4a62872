"""The commands, each file with `add_commands` and what its commands call.

They are thin, and quick to start: what a command needs is imported when it runs.
"""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]
