"""The errors that a person is meant to read, each with the exit status that the command line gives for it."""

import traceback
from collections.abc import Callable

from zydaflow.resuming import command_line, how_to_resume, started_by
from zydaflow.say import warn
from zydaflow.stopping import stoppable


class ZydaflowError(Exception):
    """An error with a message for people: what is wrong, where, and what to do."""

    exit_code = 4


class RecipeError(ZydaflowError):
    """The recipe or the usage is wrong; the message names the recipe key."""

    exit_code = 2


class InputError(ZydaflowError):
    """An input (file, column, tokenizer, model) is wrong or missing; the message names it."""

    exit_code = 3


class RunError(ZydaflowError):
    """The run stopped before its end and can be resumed by the same command."""

    exit_code = 4


def exit_status(program: str, command: Callable[[], int]) -> int:
    """Runs a command and returns its exit status; its error, if any, goes to standard error in its own words.

    Ctrl-C and SIGTERM stop it within seconds; a second one ends the process at once.
    """
    stopped = f"{program}: stopped; the same command resumes: {command_line()}"
    with started_by(command_line()), stoppable(RunError.exit_code, stopped):
        try:
            return command()
        except ZydaflowError as error:
            warn(f"{program}: {error}")
            return error.exit_code
        except (KeyboardInterrupt, SystemExit):  # the latter is how handlers of Ray stop
            warn(stopped)
            return RunError.exit_code
        except ConnectionError as error:  # of storage or a cluster, which may be there again later
            warn(f"{program}: {error}")
            return RunError.exit_code
        except Exception:
            fault = f"{program}: this is a fault of {program}, please report it"
            warn(f"{traceback.format_exc()}{fault}; to go on: {how_to_resume()}")
            return RunError.exit_code
