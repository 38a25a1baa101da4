"""Scenes of an examiner, kept back until the packs were done."""
