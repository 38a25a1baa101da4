"""What a post is judged by, and how a judgement ends that is against it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

from tarsy.errors import TarsyError

RefusalCode = Literal[
    "no_proof", "wrong_proof", "too_old", "wrong_place", "not_set_up", "wrong_topic", "certificate"
]
REFUSAL_CODES: tuple[RefusalCode, ...] = get_args(RefusalCode)


class Refused(TarsyError):
    """The sender: 401. The text says what is missing, and nothing of what would be right where
    that is a secret."""

    def __init__(self, code: RefusalCode, message: str) -> None:
        self.code: RefusalCode = code
        super().__init__(message)


@dataclass(frozen=True)
class Knock:
    """A post before it is read: headers by their names in lower case, and the bytes as they came.

    `came_straight` is false where a proxy that nobody told us of stands between: then `address` is
    that proxy's, whoever sends.
    """

    body: bytes
    moment: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    came_straight: bool = True


def check_age(moment: datetime, knock: Knock, seconds: float) -> None:
    """Raise Refused for what was signed too long ago, or by a clock that is ahead of ours."""
    age = (knock.moment - moment).total_seconds()
    if age > seconds:
        raise Refused("too_old", f"was signed {age:,.0f} s ago, and may be {seconds:,.0f} s old")
    if -age > seconds:
        raise Refused("too_old", f"was signed {-age:,.0f} s in the future: one clock is wrong")
