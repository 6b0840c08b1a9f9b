"""Originals that are named by their own hash: kept once, never changed, given back exactly, whole or in part."""

from .excerpt import Excerpt, excerpt
from .store import Artifact, ArtifactStore, AsyncArtifactStore, Size

__all__ = ["Artifact", "ArtifactStore", "AsyncArtifactStore", "Excerpt", "Size", "excerpt"]
