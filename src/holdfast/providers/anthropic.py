"""Models of Anthropic's Messages API."""

from functools import partial

from holdfast.kernel.ports import Reply
from holdfast.kernel.registry import needed_by

from .vendor import VendorModel, shared, translated

with needed_by("a model of Anthropic", "anthropic"):
    import anthropic


class AnthropicModel(VendorModel):
    """A Claude model, with the options of ``VendorModel``.

    ``api_key`` and ``base_url`` default to ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.
    """

    vendor, provider = "Anthropic", "anthropic"
    keys, address = ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"
    connected = staticmethod(shared(partial(anthropic.Anthropic, max_retries=0)))
    example = "anthropic:claude-haiku-4-5"
    _client: anthropic.Anthropic

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        with translated(self.vendor, anthropic, anthropic.AnthropicError):
            answer = self._client.messages.create(
                model=self.name,
                max_tokens=max_tokens + self.thought,
                system=system or anthropic.omit,
                messages=[{"role": "user", "content": prompt}],
            )
            said = "".join(block.text for block in answer.content if block.type == "text")
            usage = answer.usage
            cached = usage.cache_read_input_tokens or 0
            written = usage.cache_creation_input_tokens or 0
            return Reply(said, usage.input_tokens + cached + written, usage.output_tokens)
