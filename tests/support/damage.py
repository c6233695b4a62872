"""What befalls files on disks."""

from pathlib import Path


def flip(path: Path) -> None:
    """One bit in the middle of the file becomes another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    """The file loses its last byte."""
    path.write_bytes(path.read_bytes()[:-1])
