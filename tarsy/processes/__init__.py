"""Several processes run as one command."""

from tarsy.processes.child import ProcessSpec
from tarsy.processes.supervisor import Supervisor

__all__ = ["ProcessSpec", "Supervisor"]
