"""What lies between the SDK and a tool server: bytes, processes, HTTP, and what they get wrong."""
