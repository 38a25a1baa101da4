"""Whether a server's word that a tool only reads may be believed: the tool has to look like it.

A hint is no proof. It counts where the name begins or ends with a word that is known to only look,
or begins so behind what it belongs to, where the description begins with such a word or one about
answer or use, where no later sentence begins with a verb that nobody knows in front of what it does
something to, and where nothing in the schema could do anything else: no act among the values of an
argument, no flag that acts, no argument that carries a command, a statement, a body, an address, a
new value or a place to write to, and a free query only of what searches. A known verb of an act
speaks against it wherever it stands as a verb, and in the passive of what was looked at.

Where one argument lists what may be done, the hint counts for the values that look, and for
nothing else: `hint_splits`.

Proved is that much and no more: a verb that nobody knows goes unseen within a sentence, in the
passive, without an object, and in a name that ends like a look and is described as one. So does a
server that lies. What is lost all the same, an operator gives back in one line.
"""

from mcp_types import Tool

from safety.gate.hint_schemas import object_to_schema
from safety.gate.hint_texts import find_act, object_to_name, object_to_sentences


def object_to_hint(tool: Tool) -> str:
    """Why a tool that is said to only read is not believed; empty where it is.

    A clause to follow "its server says that it only reads, but".
    """
    if tool.annotations is not None and tool.annotations.destructive_hint is True:
        return "also that it destroys"
    title = tool.title or (tool.annotations.title if tool.annotations is not None else "") or ""
    told = tool.description or ""
    for text in (told, title):
        if word := find_act(text):
            return f"its description speaks of something else: {word}"
    return object_to_name(tool.name, told) or object_to_sentences(told) or object_to_schema(tool)
