"""Scenes of an examiner, who knew neither the packs nor what other worlds were right about."""
