"""What was paid for once: embeddings and summaries, kept in memory or over any store."""

from .compression_cache import CompressionCache, content_key, key_of

__all__ = ["CompressionCache", "content_key", "key_of"]
