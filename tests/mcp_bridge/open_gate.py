"""A gate that stands open, for tests of what lies behind it."""

from agents.ports import ProposedAnswer, Review
from safety.gate_port import GateRequest, Pass
from safety.refusals import Refusal


class OpenGate:
    offers_writes = True

    def screen(self, request: GateRequest) -> Refusal | None:
        return None

    async def admit(self, request: GateRequest, look: object = None) -> Pass | Refusal:
        return Pass(request, 0)

    def settle(self, passed: Pass, outcome: object, text: str, judgement: object = None) -> None:
        pass

    def take_check(self, call_id: str) -> None:
        return None

    def give_up_check(self, judgement: object) -> None:
        pass

    def report_writes(self) -> None:
        return None

    def recall(self, calls: object, interrupted: object) -> None:
        pass

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        return Review(answer.text)
