"""What runs on a resource: services, versions, ports and the places of their files."""
