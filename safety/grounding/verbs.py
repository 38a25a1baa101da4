"""Verbs of change: how an act is told, and what a call or a result that did it contains."""

from dataclasses import dataclass
from typing import Literal

Certainty = Literal["act", "of_things", "of_names", "loose"]
"""What an "I" before the verb claims. `act`: that something was done, whatever stands behind it.
`of_things`: that, where a thing stands behind it; people stop a search, too. `of_names`: that,
where the name of a thing does. `loose`: nothing that is certain: people resolve names.
"""


@dataclass(frozen=True)
class Verb:
    past: str
    signs: str
    certainty: Certainty


_ANY_CHANGE = r"."
VERBS = (
    Verb(r"restarted|rebooted|bounced|reloaded|recreated|power[- ]cycled",
         r"restart|reboot|reload|rollout|recreat|power|cycle", "act"),
    Verb(r"evicted|drained|cordoned|uncordoned", r"evict|drain|cordon", "act"),
    Verb(r"rolled back|reverted", r"roll|revert|undo", "act"),
    Verb(r"failed over|switched over", r"fail|switch", "act"),
    Verb(r"put(?=\s[^.;]{1,60}\bback\b)", _ANY_CHANGE, "act"),
    Verb(r"scaled(?: up| down| out| in)?", r"scal|replica|resiz", "act"),
    Verb(r"deleted|purged|pruned|wiped", r"delet|remov|purg|drop|prun|\brm\b|destroy|wip", "act"),
    Verb(r"(?:added|kept|stored|saved|recorded|left|written|wrote)"
         r"(?=\s+(?:an?|the)\s+(?:\w+\s+)?(?:note|comment|silence|label|annotation|tag)\b)",
         r"remember|writ|append|note|comment|silenc|label|annotat|\btag|add", "act"),
    Verb(r"stopped|shut down|halted", r"stop|shut|halt|inactive|dead|exited", "of_things"),
    Verb(r"started|launched", r"start|launch|running|active|since|up\b|age\b", "of_things"),
    Verb(r"killed|terminated", r"kill|terminat|oom|137|143|signal", "of_things"),
    Verb(r"resized|extended|expanded|enlarged", r"resiz|exten|expan|grow|enlarg", "of_names"),
    Verb(r"cleaned(?: up)?|emptied|truncated|freed|vacuumed|rotated",
         r"clear|clean|truncat|free|vacuum|rotat|\brm\b|prun|delet", "of_names"),
    Verb(r"raised|increased|lowered|decreased|reduced|bumped|patched|reconfigured|upgraded|"
         r"downgraded|enabled|re-enabled|disabled|silenced",
         r"patch|updat|set|edit|writ|append|appl|config|chang|scal|resiz|upgrad|enabl|disabl|"
         r"rais|increas|limit|replac|silenc", "of_names"),
    Verb(r"deployed|installed|renewed|rescheduled|unmounted|mounted",
         r"deploy|install|appl|renew|schedul|mount", "of_names"),
    Verb(r"removed|dropped|cleared|changed|adjusted|modified|edited|updated|configured|set|replaced|"
         r"applied|created|moved|put|fixed|resolved|repaired|remediated|mitigated|acknowledged|"
         r"escalated|paged|notified", _ANY_CHANGE, "loose"),
)  # fmt: skip
