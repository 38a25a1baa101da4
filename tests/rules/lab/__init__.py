"""A machine of its own for each recorded world: real servers in which a real fault was set off.

`python -m tests.rules.lab first redis` sets the faults of a group off again and records anew what
the tools of `ops` say to the packs, as is needed when packs make other calls. It takes root, for
namespaces of Linux, a C compiler, and the programs of the servers from Debian's packages.
`python -m tests.rules.lab third over_kubectl` does so for clusters, which are objects behind a
stand-in of the API; `clusters.looking` says which programs that takes.
"""
