"""The end of a process, at a chosen moment."""

import pytest

from zydaflow.provenance.commits import Record, Store


class Killed(BaseException):
    """Stands for the end of the process."""


def die_at(monkeypatch: pytest.MonkeyPatch, number: int, after: bool) -> None:
    """The process ends at the commit or withdrawal of that number: before it is done, or after."""
    count = 0

    def dying(step):
        def one(self: Store, record: Record):
            nonlocal count
            count += 1
            if count == number and not after:
                raise Killed
            made = step(self, record)
            if count == number:
                raise Killed
            return made

        return one

    monkeypatch.setattr(Store, "commit", dying(Store.commit))
    monkeypatch.setattr(Store, "withdraw", dying(Store.withdraw))
