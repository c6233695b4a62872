"""The errors that a person is meant to read, each with the exit status that the command line gives for it."""


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
