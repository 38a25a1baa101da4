"""Scenes that nobody who wrote rules had seen before they were measured."""
