"""The deployment as processes: what docker-compose.yml says is started without containers.

compose_file.py    reads the file as compose does: variables, env_file, profiles, dependencies
engine.py          starts its services and asks their health checks, in the order it names
containers.py      one service as a process, with an address of its own on the loopback network
name_server.py     tells nginx where the services are, as the name server of the engine does
fronts.py          what others put in front: an end of TLS, an identity proxy
stack.py           the whole, with a model and a tool server for its agents
"""
