"""How durations, sizes, counts and prices are written."""


def clock(seconds: float | None) -> str:
    """`2:36`, `1:02:03`: how long work took."""
    if seconds is None:
        return ""
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def span(milliseconds: int | None) -> str:
    """`0.41 s`, `12.3 s`, `2:05`: how long a call took."""
    if milliseconds is None:
        return ""
    if milliseconds < 10:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    if seconds < 10:
        return f"{seconds:.2f} s"
    return f"{seconds:.1f} s" if seconds < 60 else clock(seconds)


def waited(milliseconds: int) -> str:
    """`45 s`, `4 min 10 s`, `1 h 5 min`: how long a person was waited for."""
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    if not minutes:
        return f"{seconds} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s"


def call_time(waited_ms: int | None, ran_ms: int | None) -> str:
    """How long a call took: what it waited for a person stands apart from what the tool took."""
    if waited_ms is None:
        return span(ran_ms)
    ran = "" if ran_ms is None else f", ran {span(ran_ms)}"
    return f"waited {waited(waited_ms)}{ran}"


def size(count: int | None) -> str:
    """Bytes, as `412 B`, `1.5 kB`, `12 MB`."""
    if count is None:
        return ""
    if count < 1000:
        return f"{count} B"
    amount, unit = (count / 1000, "kB") if count < 1_000_000 else (count / 1_000_000, "MB")
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"


def tokens(count: int | None) -> str:
    """`412`, `1.5k`, `1.24M`."""
    if not count:
        return "0"
    if count < 1000:
        return str(count)
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.2f}M"


def cost(dollars: float | None) -> str:
    """`~$0.42`; None is a price that nobody knows."""
    if dollars is None:
        return "unpriced"
    return f"~${dollars:.2f}" if dollars >= 0.005 or dollars == 0 else "below $0.01"
