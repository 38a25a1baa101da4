"""What a list draws as the status of sessions that have ended."""

import uuid
from collections.abc import Mapping, Sequence

from investigations.models import AlertSession
from investigations.selectors.outcomes import (
    facts_of_asks,
    facts_of_lines,
    name_outcome,
    read_undone_asks,
)


def read_states(sessions: Sequence[AlertSession]) -> Mapping[uuid.UUID, str]:
    ended = [each.pk for each in sessions if each.is_terminal]
    undone = read_undone_asks(ended) if ended else {}
    return {
        each.pk: name_outcome(each, facts_of_lines(each) | facts_of_asks(undone.get(each.pk, ())))
        for each in sessions
    }
