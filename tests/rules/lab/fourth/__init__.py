"""Scenes whose maker knew neither the packs nor the other worlds."""
