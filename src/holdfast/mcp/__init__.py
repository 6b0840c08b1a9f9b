"""The door for agents that speak MCP: recall, search, shortening and notes over one store."""
