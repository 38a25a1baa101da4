"""What is shown of one answer while it comes."""

from agents.streaming import AnswerBlocks
from tests.agents.doubles import MemoryJournal


async def test_thinking_ends_when_the_answer_begins():
    journal = MemoryJournal()
    blocks = AnswerBlocks(journal)

    await blocks.add("llm_thinking", "Let me see")
    await blocks.add("llm_thinking", " the pods.")
    await blocks.add("llm_response", "It is the memory.")

    assert journal.log == ["open llm_thinking", "end llm_thinking", "open llm_response"]
    assert "".join(delta for _, delta in journal.deltas["b1"]) == "Let me see the pods."
