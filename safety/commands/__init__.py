"""The proof that a command only reads and ends by itself, and the way to run what was proven.

`prove` never runs anything. `run_proven` runs only what `Proof.script` holds: the argument vectors
of the parse tree, without a shell.
"""

from safety.commands.proof import Intent, Proof, prove
from safety.commands.refusal import Category
from safety.commands.rewrites import Recovery, Rewrite, prove_or_rewrite, suggest_rewrite
from safety.commands.risk import Risk
from safety.commands.running import run_proven
from safety.commands.screen import Screen, Withheld
from safety.commands.script import Finished

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
