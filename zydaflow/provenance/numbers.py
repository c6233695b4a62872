"""Sizes and times as people read them."""


def megabytes(size: float) -> str:
    """Bytes in powers of ten: 512 B, 3.4 MB."""
    if abs(size) < 1000:
        return f"{size:.0f} B"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if abs(size) < 1000:
            return f"{size:.1f} {unit}"
    return f"{size / 1000:.1f} TB"


def duration(seconds: float) -> str:
    """Seconds as 4 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
