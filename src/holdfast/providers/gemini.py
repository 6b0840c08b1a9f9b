"""Google's Gemini: models and embedders."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.kernel.ports import Reply
from holdfast.kernel.registry import needed_by

from .vendor import (
    Access,
    VendorAccount,
    VendorModel,
    reading,
    refusal,
    shared,
)

with needed_by("a model of Google", "gemini"):
    import httpx
    import httpx2
    from google import genai
    from google.genai import errors, types


@shared
def _client(api_key: str, base_url: str | None, timeout: float) -> genai.Client:
    once = types.HttpRetryOptions(attempts=1)
    options = types.HttpOptions(base_url=base_url, timeout=int(timeout * 1_000), retry_options=once)
    return genai.Client(api_key=api_key, http_options=options)


class _Gemini(VendorAccount):
    vendor, provider = "Google", "gcp.gemini"
    keys, address = ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "GOOGLE_GEMINI_BASE_URL"
    connected = staticmethod(_client)

    def _opened(self, account: Access) -> Any:
        """The client's models, without their types, which name packages that may be missing."""
        return super()._opened(account).models


class GeminiModel(_Gemini, VendorModel):
    """A Gemini model, with the options of ``VendorModel``.

    ``api_key`` defaults to GEMINI_API_KEY or GOOGLE_API_KEY, ``base_url`` to
    GOOGLE_GEMINI_BASE_URL.
    """

    example = "gemini:gemini-2.5-flash"
    thinking = ("gemini-2.5", "gemini-3")

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Reply:
        """The model's reply. Raises ModelError, TransientError or ContextOverflowError."""
        config = types.GenerateContentConfig(
            system_instruction=system or None, max_output_tokens=max_tokens + self.thought
        )
        with _translated():
            answer: types.GenerateContentResponse = self._client.generate_content(
                model=self.name, contents=prompt, config=config
            )
            content = (answer.candidates or [])[0].content
            parts = (content.parts if content else None) or []
            said = "".join(part.text for part in parts if part.text and not part.thought)
            usage = answer.usage_metadata
            if usage is None:
                return Reply(said)
            spoken = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
            return Reply(said, usage.prompt_token_count, spoken)


class GeminiEmbedder(_Gemini):
    """An embedding model, with the options of ``GeminiModel``."""

    usual = "gemini-embedding-001"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text. Raises ModelError, TransientError or ContextOverflowError."""
        sent = [text or " " for text in texts]
        with _translated():
            answer: types.EmbedContentResponse = self._client.embed_content(
                model=self.name, contents=sent
            )
            return [row.values or [] for row in answer.embeddings or []]


@contextmanager
def _translated() -> Generator[None]:
    # the package uses httpx before its version 3 and httpx2 since then; it installs both
    with reading("Google", httpx.TransportError, httpx2.TransportError):
        try:
            yield
        except errors.APIError as fault:
            told: Any = fault
            headers: Mapping[str, str] = getattr(told.response, "headers", None) or {}
            raise refusal(
                "Google", fault.code, f"{fault.message} {told.details}", headers
            ) from fault
