"""A PostgreSQL and a Redis-protocol server of our own, for when none is given.

`ensure` runs them, `locate` finds them, `commands.servers_for` gives them to a Django command. Only
the programs of the two wheels are used; their own launchers open parent directories, create a login
user and leave servers behind.
"""

from tarsy.embedded.errors import EmbeddedError
from tarsy.embedded.servers import Servers, ensure, locate

__all__ = ["EmbeddedError", "Servers", "ensure", "locate"]
