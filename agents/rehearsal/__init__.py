"""A model that plays a script: real HTTP, real streaming, no provider and no key.

`script` says which request gets which answer, `conversation` reads a request, `rendering` fills
templates with the real tool results of the conversation, `wires` write what the clients of each
API expect, and `server` serves it. `/v1` is a server that takes everything; `/NAME/v1` is as strict
as a real one and writes as it does: `dialects` has a file for each family of servers.
"""
