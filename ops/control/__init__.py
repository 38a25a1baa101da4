"""The one tool that changes what runs: services, containers, guests, processes, commands."""
