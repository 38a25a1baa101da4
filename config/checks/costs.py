"""Promotions: each ends after it starts, ids are single, windows of a model do not overlap."""

from datetime import UTC, datetime

from config.checks.findings import Findings, show
from config.schema.fields import parse_moment
from config.tree import Node, Path, match

_EVER_SINCE = datetime.min.replace(tzinfo=UTC)
_Window = tuple[datetime, datetime]


def check_costs(findings: Findings) -> None:
    """Report each promotion that contradicts itself or another one."""
    ids: set[str] = set()
    windows: dict[str, list[_Window]] = {}
    for path, promotion in match(findings.root, "system.cost_estimation.promotions.*"):
        if identity := promotion.get("id"):
            if identity.text in ids:
                findings.wrong((*path, "id"), f"{show(identity)} is the id of another promotion")
            ids.add(identity.text)
        if window := _window(findings, path, promotion):
            _check_overlap(findings, path, promotion, window, windows)
    for path, _ in match(findings.root, "system.cost_estimation.model_rates.*"):
        if not str(path[-1]).strip():
            findings.wrong(path, "a rate needs the name of a model")


def _window(findings: Findings, path: Path, promotion: Node) -> _Window | None:
    start, end = promotion.get("start"), promotion.get("end")
    try:
        opens = parse_moment(start.text) if start else _EVER_SINCE
        closes = parse_moment(end.text) if end else None
    except ValueError:
        return None  # the schema reports it
    if closes is None:
        return None
    if closes <= opens:
        findings.wrong((*path, "end"), "must be later than start")
        return None
    return opens, closes


def _check_overlap(
    findings: Findings,
    path: Path,
    promotion: Node,
    window: _Window,
    windows: dict[str, list[_Window]],
) -> None:
    model = promotion.get("model")
    if model is None:
        return
    others = windows.setdefault(model.text, [])
    if any(window[0] < closes and opens < window[1] for opens, closes in others):
        findings.wrong(path, f"overlaps another promotion of the model {show(model)}")
    others.append(window)
