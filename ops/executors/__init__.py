"""The ways to run an argument vector: here, on another host, in a container, a pod or a guest."""
