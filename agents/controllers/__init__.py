"""Controllers: the strategies that decide what an answer means."""

from typing import assert_never

from agents.controllers.as_text import present_as_text
from agents.controllers.base import AskAgain, CallTools, Conclude, Controller, Decision
from agents.controllers.function_calling import FunctionCalling, ask_to_make_call
from agents.controllers.react import React
from agents.controllers.single_call import SingleCall, Synthesis
from agents.controllers.written import find_report, is_report
from agents.task import ControllerName

__all__ = [
    "AskAgain",
    "CallTools",
    "Conclude",
    "Controller",
    "Decision",
    "FunctionCalling",
    "React",
    "SingleCall",
    "Synthesis",
    "ask_to_make_call",
    "find_report",
    "is_report",
    "make_controller",
    "present_as_text",
]


def make_controller(name: ControllerName) -> Controller:
    """The strategy of that name."""
    match name:
        case "function_calling" | "rules":
            return FunctionCalling()
        case "react":
            return React()
        case "synthesis":
            return Synthesis()
        case "single_call":
            return SingleCall()
        case _:
            assert_never(name)
