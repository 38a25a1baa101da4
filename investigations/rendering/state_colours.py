"""The colour, the icon and the word of each state, and the colour of a risk.

A tone is a colour by its meaning: `run`, `ok`, `bad`, `doubt`, `you` (a person is needed) or none.
What it looks like stands at the top of `tarsy.css`, as `--t-` and the tone.
"""

_STATES: dict[str, tuple[str, str, str]] = {
    # status: (tone, icon, word)
    "pending": ("", "wait", "Queued"),
    "waiting": ("", "wait", "Waiting"),
    "streaming": ("run", "run", "In progress"),
    "active": ("run", "run", "In progress"),
    "in_progress": ("run", "run", "In progress"),
    "cancelling": ("run", "stopd", "Cancelling"),
    "completed": ("ok", "ok", "Completed"),
    "unverified_write": ("doubt", "warn", "Unverified write"),
    "not_repaired": ("doubt", "stopd", "Not repaired"),
    "partly_done": ("doubt", "warn", "Partly done"),
    "change_denied": ("doubt", "stopd", "Change denied"),
    "change_expired": ("doubt", "late", "Change expired"),
    "inconclusive": ("doubt", "unsup", "Inconclusive"),
    "failed": ("bad", "bad", "Failed"),
    "timed_out": ("bad", "late", "Timed out"),
    "cancelled": ("", "stopd", "Cancelled"),
    "needs_approval": ("you", "you", "Needs approval"),
    "approved": ("ok", "ok", "Approved"),
    "denied": ("doubt", "stopd", "Denied"),
    "expired": ("doubt", "late", "Expired"),
    "blocked": ("doubt", "stopd", "Blocked"),
    "interrupted": ("doubt", "warn", "Interrupted"),
    "firing": ("bad", "bad", "Firing"),
    "recovered": ("ok", "ok", "Recovered"),
    "reopened": ("bad", "bad", "Reopened"),
    "resolved": ("ok", "ok", "Resolved"),
    "up": ("ok", "ok", "Up"),
    "degraded": ("doubt", "warn", "Degraded"),
    "down": ("bad", "bad", "Down"),
    "healthy": ("ok", "ok", "Up"),
    "unhealthy": ("bad", "bad", "Down"),
    "checking": ("run", "run", "Checking"),
    "unknown": ("doubt", "unsup", "Not known"),
    "unwatched": ("", "stopd", "Not checked"),
    "unsteady": ("doubt", "warn", "Unsteady"),
    "failing": ("bad", "bad", "Failing"),
    "no_key": ("bad", "bad", "No key"),
    "unused": ("", "wait", "Not asked yet"),
    "works": ("ok", "ok", "Works"),
    "limited": ("doubt", "warn", "Limited"),
    "fails": ("bad", "bad", "Fails"),
    "skipped": ("", "stopd", "Not tried"),
}
_RISKS = {"high": "bad", "medium": "doubt"}


def look_of(status: str) -> tuple[str, str, str]:
    """Tone, icon and word of a status."""
    return _STATES.get(status, _STATES["waiting"])


def tone_of_risk(risk: str) -> str:
    """The worse, the louder."""
    return _RISKS.get(risk, "")
