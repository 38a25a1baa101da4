"""A machine of its own for each recorded world: real servers in which a real fault was set off.

`python -m tests.rules.lab first redis` sets the faults of a group off again and records anew what
the tools of `ops` say to the packs, as is needed when packs make other calls. It takes root, for
namespaces of Linux, a C compiler, and the programs of the servers from Debian's packages.
"""
