"""Holds a final answer against what the tools returned. Pure text in, spans out."""
