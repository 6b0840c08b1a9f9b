"""An MCP server for agents: recall, search, shortening and notes over one store."""
