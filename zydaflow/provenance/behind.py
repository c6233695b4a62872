"""Work that a task hands over: done by one thread, in order, while the task goes on."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

MOST = 16  # pieces of work that wait; a task whose storage is slower than itself waits too


@cache
def _thread() -> ThreadPoolExecutor:
    """The one of this process."""
    return ThreadPoolExecutor(1)


class Behind:
    """After a piece of work that fails the others are given up, so that no record comes after a file that did not."""

    def __init__(self) -> None:
        self._waiting: deque[Future[None]] = deque()
        self._error: BaseException | None = None

    def hand_over(self, work: Callable[[], None], give_up: Callable[[], None]) -> None:
        """Takes a piece of work, and what to do in its place if it is given up. Raises what an earlier one raised."""
        self._waiting.append(_thread().submit(self._do, work, give_up))
        while len(self._waiting) > MOST:
            self._waiting.popleft().result()
        self._tell()

    def settle(self) -> None:
        """Waits until all of it is done. Raises what it raised."""
        self.finish()
        self._tell()

    def finish(self) -> None:
        """Waits until all of it is done."""
        while self._waiting:
            self._waiting.popleft().result()

    def _do(self, work: Callable[[], None], give_up: Callable[[], None]) -> None:
        if self._error is not None:
            give_up()
            return
        try:
            work()
        except BaseException as error:
            self._error = error

    def _tell(self) -> None:
        if self._error is not None:
            raise self._error
