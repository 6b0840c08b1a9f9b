"""OpenAI's chat completions and embeddings, also of other servers with a ``base_url``."""

from collections.abc import Sequence
from functools import partial

from holdfast.kernel.ports import Reply
from holdfast.kernel.registry import needed_by

from .vendor import VendorAccount, VendorModel, shared, translated

with needed_by("a model of OpenAI", "openai"):
    import openai
    from openai.types.chat import ChatCompletionMessageParam

_MOST = 8_000  # bytes of a text that are embedded: its models accept 8,191 tokens of a byte or more


class _OpenAI(VendorAccount):
    vendor, provider = "OpenAI", "openai"
    keys, address, key_elsewhere = ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "none"
    connected = staticmethod(shared(partial(openai.OpenAI, max_retries=0)))


class OpenAIModel(_OpenAI, VendorModel):
    """A chat model, with the options of ``VendorModel``.

    ``api_key`` and ``base_url`` default to OPENAI_API_KEY and OPENAI_BASE_URL; a server of your own
    may need no key.
    """

    example = "openai:gpt-4o-mini"
    thinking = ("o1", "o3", "o4", "gpt-5")
    _client: openai.OpenAI

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        most = max_tokens + self.thought
        # other servers know only the older name, which OpenAI's reasoning models refuse
        own = "api.openai.com" in str(self._client.base_url)
        messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": prompt}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        with translated(self.vendor, openai, openai.OpenAIError):
            answer = self._client.chat.completions.create(
                model=self.name,
                messages=messages,
                max_completion_tokens=most if own else openai.omit,
                max_tokens=openai.omit if own else most,
            )
            usage = answer.usage
            return Reply(
                answer.choices[0].message.content or "",
                usage.prompt_tokens if usage else None,
                usage.completion_tokens if usage else None,
            )


class OpenAIEmbedder(_OpenAI):
    """An embedding model with the options of ``OpenAIModel``; long texts are cut."""

    usual = "text-embedding-3-small"
    _client: openai.OpenAI

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text. Raises ModelError, TransientError or ContextOverflowError."""
        cut = (text[:_MOST].encode(errors="replace")[:_MOST] for text in texts)
        sent = [each.decode(errors="ignore") or " " for each in cut]
        with translated(self.vendor, openai, openai.OpenAIError):
            answer = self._client.embeddings.create(
                model=self.name, input=sent, encoding_format="float"
            )
            return [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
