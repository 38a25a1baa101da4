"""What agents hear of their incident while they work: kept with how far they have been told."""

from collections.abc import Sequence
from dataclasses import replace

from agents.records import IncidentNews
from agents.types import Message, Note
from config import get_config
from investigations.models import AgentExecution, Incident, MemberChange, Stage, TimelineEvent
from investigations.services.ledger import lease_write
from investigations.services.step_rows import Mask, add_messages, add_note

MOST_TOLD = 20
"""Alerts of each kind that are told by their titles at once; more are counted."""
MOST_READ = 2_000
"""Changes that are looked at at once; what stands behind them is told the next time."""
_TELLS = (Stage.Type.INVESTIGATION, Stage.Type.ACTION)


def follows_incident(execution: AgentExecution) -> bool:
    """Whether there is anything that it could be told of."""
    return AgentExecution.objects.filter(
        pk=execution.pk,
        session__incident__kind__in=Incident.FOLLOWED,
        stage__stage_type__in=_TELLS,
    ).exists()


def read_news(execution: AgentExecution) -> IncidentNews | None:
    """What became of the alerts since its session's alert was written and since it was told."""
    told = AgentExecution.objects.filter(pk=execution.pk).values_list(
        "session__incident_id", "session__changes_in_alert", "told_changes"
    )
    incident_id, in_alert, heard = told.get()
    newer = MemberChange.objects.filter(incident_id=incident_id, id__gt=max(in_alert, heard))
    changes = list(
        newer.select_related("episode").defer("episode__body", "episode__labels")[:MOST_READ]
    )
    if not changes:
        return None
    incident = Incident.objects.get(pk=incident_id)
    is_over = not incident.is_open and incident.recovered_at is not None
    titles = {kind: _titles(changes, kind) for kind in MemberChange.Kind.values}
    joined, reopened, resolved = (titles[kind] for kind in ("joined", "reopened", "resolved"))
    return IncidentNews(
        last_change=changes[-1].pk,
        joined=joined[:MOST_TOLD],
        reopened=reopened[:MOST_TOLD],
        resolved=resolved[:MOST_TOLD],
        more_joined=max(0, len(joined) - MOST_TOLD),
        more_reopened=max(0, len(reopened) - MOST_TOLD),
        more_resolved=max(0, len(resolved) - MOST_TOLD),
        firing=incident.firing_count,
        over_since=f"{incident.recovered_at:%Y-%m-%d %H:%M:%S} UTC" if is_over else "",
        must_conclude=is_over and get_config().incidents.when_recovered == "shorten",
    )


def record_news(
    execution: AgentExecution, news: IncidentNews, message: Message, mask: Mask
) -> None:
    """Keep the message, and show on the timeline what its agent was told of."""
    kept = replace(message, content=mask(message.content))
    note = Note("notice", mask(_describe(news)), {"about": TimelineEvent.ABOUT_INCIDENT})
    with lease_write(execution) as write:
        add_messages(write, execution, [kept])
        add_note(write, execution, note.kind, note.content, note.metadata)
        AgentExecution.objects.filter(pk=execution.pk).update(told_changes=news.last_change)


def _titles(changes: Sequence[MemberChange], kind: str) -> tuple[str, ...]:
    return tuple(each.episode.title or each.episode.key for each in changes if each.kind == kind)


def _describe(news: IncidentNews) -> str:
    """For people, in one sentence for each kind."""
    parts = (
        ("Joined", news.joined, news.more_joined),
        ("Fires again", news.reopened, news.more_reopened),
        ("Over", news.resolved, news.more_resolved),
    )
    told = [_name(word, titles, more) for word, titles, more in parts if titles]
    if news.over_since:
        told.append(f"All alerts are over since {news.over_since}.")
    return " ".join(told)


def _name(word: str, titles: Sequence[str], more: int) -> str:
    shown = "; ".join(titles[:5])
    rest = len(titles) - len(titles[:5]) + more
    return f"{word}: {shown}{f' and {rest:,} more' if rest else ''}."
