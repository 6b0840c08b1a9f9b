"""Speed and quality, each figure beside a named peer or limit."""
