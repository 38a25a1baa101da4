"""The MCP server that ships with the product, for the machine at hand and what it reaches."""
