"""What a model is asked by the probes: short, cheap, and easy to judge by code."""

from agents.llm.wire import seal_fields
from agents.types import Message, ToolCall, ToolSpec

AGENT = "ProviderCheck"
"""The name by which a rehearsal can tell these questions from an agent's."""
SYSTEM = Message(
    "system",
    f"Agent: {AGENT}\n\n"
    "Somebody tests whether you can be used. Do exactly what is asked, and nothing else.",
)
LOOK_UP = ToolSpec(
    "check.look_up",
    "check__look_up",
    "Returns the code that belongs to a name.",
    {
        "type": "object",
        "properties": {"name": {"type": "string", "description": "the name to look up"}},
        "required": ["name"],
    },
)
CODE = "7319"
OTHER_CODE = "4862"
COUNTED = 400
"""How far it counts for a long answer: about a thousand tokens."""
FIRST_WORD = "marigold"
"""What the longest question begins with, and asks for at its end."""


def ask(text: str) -> tuple[Message, Message]:
    return SYSTEM, Message("user", text)


TEXT = ask("Answer with the single word: ready")
STREAM = ask("Count from 1 to 100, with a comma and a blank between two numbers.")
LIMIT = ask(f"Count from 1 to {COUNTED}, one number on each line.")
LONG = ask(f"Count from 1 to {COUNTED}, one number on each line. Leave none out.")
CALL = ask(
    f"Call the tool {LOOK_UP.wire_name} with the name alpha. You will get its code, and tell it."
)
PARALLEL = ask(
    f"Call the tool {LOOK_UP.wire_name} twice at once, in one answer: once with the name alpha, "
    "once with the name beta."
)
THINKING = ask("Is 391 a prime number? Think about it, then answer with yes or no.")
JSON_OBJECT = ask(
    'Answer with this JSON object and nothing else: {"service": "payments", "replicas": 3}'
)
TELL_CODE = Message("user", "Call nothing any more. Which code does alpha have?")


def bring_result(call: ToolCall, code: str = CODE) -> Message:
    return Message(
        "tool", f"[T1] The code is {code}.", tool_call_id=call.id, tool_name=LOOK_UP.wire_name
    )


def write_foreign_history() -> tuple[Message, ...]:
    """A conversation that a model of another provider began, and this one has to go on with."""
    call = ToolCall(
        "toolu_01:another-provider/" + "k7Q" * 20, LOOK_UP.wire_name, '{"name": "alpha"}'
    )
    fields = seal_fields("another provider", {"reasoning_content": "It wants the code of alpha."})
    return (
        *CALL,
        Message("assistant", "I look it up.", (call,), provider_fields=fields),
        bring_result(call),
    )


def write_long_question(tokens: int) -> tuple[Message, ...]:
    """A question of at least so many tokens: a digit and a blank are no less than one."""
    digits = " ".join(str(number * number % 97 % 10) for number in range(tokens))
    return ask(
        f"The first word is: {FIRST_WORD}.\n\n{digits}\n\nThe digits mean nothing. Which word did "
        "this text begin with, as its first line says? Answer with that word alone."
    )
