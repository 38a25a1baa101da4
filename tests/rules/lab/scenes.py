"""What a scene is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.rules.host_scenarios import Host
from tests.rules.lab.machine import Machine


@dataclass(frozen=True)
class Scene:
    """A fault that is set off on a machine, and what is right to say of it.

    `words` are patterns; what is said first has to hold all of them. Without any, nothing is wrong
    that the alert is about. They were written down before any rule saw the world.
    """

    name: str
    alert: Mapping[str, str]
    set_off: Callable[[Machine], object]
    words: tuple[str, ...] = ()
    host: Host = field(default_factory=Host)
    """The rest of the machine, where it matters."""
    machine: str = "shop-1"
    reaches_out: bool = False
    """Whether the operator lets commands name other machines."""
