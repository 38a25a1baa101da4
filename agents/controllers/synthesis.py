"""Many investigations, one report."""

from agents.controllers.single_call import SingleCall
from agents.types import InteractionType, Phase


class Synthesis(SingleCall):
    """Weighs what several agents found; a single call, recorded as a synthesis."""

    phase: Phase = "synthesizing"
    interaction_type: InteractionType = "synthesis"
    final_interaction_type: InteractionType = "synthesis"
