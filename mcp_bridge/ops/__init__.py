"""The MCP server that ships with the product: read-only tools for the machine at hand."""
