"""A model that plays a script: real HTTP, real streaming, no provider and no key.

`script` says which request gets which answer, `conversation` reads a request, `rendering` fills
templates with the real tool results of the conversation, `wire` writes what clients of an
OpenAI-compatible API expect, and `server` serves it.
"""
