"""Several processes run as one command."""

from tarsy.processes.supervisor import ProcessSpec, Supervisor

__all__ = ["ProcessSpec", "Supervisor"]
