"""Pages of the repository's root that the documentation site shows too; a hook of mkdocs."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
SHOWN = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages, with links that hold inside the site."""
    for name in SHOWN:
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        files.append(File.generated(config, name, content=text))
    return files
