"""The proof that a command only reads and ends by itself, and the way to run what was proven.

`prove` never runs anything. `run_proven` runs only what `Proof.script` holds: the argument vectors
of the parse tree, without a shell.
"""

from mcp_bridge.commands.finished import Finished
from mcp_bridge.commands.proof import Intent, Proof, prove
from mcp_bridge.commands.refusal import Category
from mcp_bridge.commands.rewrites import Recovery, Rewrite, prove_or_rewrite, suggest_rewrite
from mcp_bridge.commands.risk import Risk
from mcp_bridge.commands.running import run_proven
from mcp_bridge.commands.screen import Screen, Withheld

__all__ = [
    "Category",
    "Finished",
    "Intent",
    "Proof",
    "Recovery",
    "Rewrite",
    "Risk",
    "Screen",
    "Withheld",
    "prove",
    "prove_or_rewrite",
    "run_proven",
    "suggest_rewrite",
]
