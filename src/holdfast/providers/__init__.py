"""Models and embedders: vendors by name, or the caller's objects and functions."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any, cast

from holdfast.kernel.errors import ConfigError, MissingExtraError
from holdfast.kernel.ports import Embedder, Model
from holdfast.kernel.registry import Registry, similar
from holdfast.kernel.typed import what_is


class FunctionProvider:
    """A function of a prompt as a model, or of texts as an embedder, synchronous or not.

    Caches identify it by its qualified name: two functions with the same name are one model there,
    unless an attribute ``name`` distinguishes them.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        home = getattr(function, "__module__", "")
        own: str = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = _stated(function, "name") or (f"{home}.{own}" if home else own)

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 512) -> Any:
        """Call the function; the system prompt is put first."""
        return self._function(f"{system}\n\n{prompt}" if system else prompt)

    def embed(self, texts: Sequence[str]) -> Any:
        """Call the function."""
        return self._function(texts)


MODELS = Registry(
    "model vendor",
    "models",
    """
        openai holdfast.providers.openai:OpenAIModel
        anthropic holdfast.providers.anthropic:AnthropicModel
        gemini holdfast.providers.gemini:GeminiModel
        extractive holdfast.providers.lexical:Extractive
        scripted holdfast.providers.scripted:always
    """,
    aliases="google gemini",
)
"""Vendors by the name before the colon; each is called with the text after it."""

EMBEDDERS = Registry(
    "embedder",
    "embedders",
    """
        openai holdfast.providers.openai:OpenAIEmbedder
        gemini holdfast.providers.gemini:GeminiEmbedder
        local holdfast.providers.local:LocalEmbedder
        lexical holdfast.providers.lexical:LexicalEmbedder
    """,
    aliases="google gemini",
)
"""Like ``MODELS``, for embedders."""


ModelSpec = str | Model | Callable[[str], Any]
EmbedderSpec = str | Embedder | Callable[[Sequence[str]], Any]


def check_model(spec: ModelSpec) -> None:
    """Raise ConfigError for what ``open_model`` would refuse, without importing a package."""
    means = "a function of the prompt, or an object with complete(prompt, system, max_tokens)"
    _check(MODELS, spec, "complete", "llm", means)


def check_embedder(spec: EmbedderSpec) -> None:
    """Like ``check_model``, for embedders."""
    means = "a function of the texts, or an object with embed(texts)"
    _check(EMBEDDERS, spec, "embed", "embedder", means)


def open_model(spec: ModelSpec) -> Model:
    """Return the model for ``vendor:name``, a model object, or a function.

    Raises ConfigError for anything else, and MissingExtraError if the vendor's package is not
    installed.
    """
    check_model(spec)
    return cast("Model", _opened(MODELS, spec, Model))


def open_embedder(spec: EmbedderSpec) -> Embedder:
    """Return the embedder for ``vendor:name``, an object with ``embed``, or a function of texts.

    Raises the errors of ``open_model``.
    """
    check_embedder(spec)
    return cast("Embedder", _opened(EMBEDDERS, spec, Embedder))


def has_local_vectors() -> bool:
    """Whether the packages of the extra ``local`` are installed; loads nothing."""
    return all(map(find_spec, ("numpy", "tokenizers", "wordllama")))


@cache
def default_embedder() -> Embedder:
    """Return static vectors if they are installed, else lexical ones; neither needs a network."""
    try:
        return open_embedder("local")
    except MissingExtraError:
        return open_embedder("lexical")


def _check(vendors: Registry, spec: object, method: str, place: str, means: str) -> None:
    if isinstance(spec, str):
        vendor, mark, name = spec.partition(":")
        if vendor not in vendors:
            hint = "" if mark else "write 'vendor:name'; "
            if near := similar(vendor, vendors.names()):
                hint = f"did you mean {near + mark + name!r}? "
            advice = f"{hint}known are {', '.join(vendors.names())}"
            raise ConfigError(f"{spec!r} names no {vendors.noun}", place=place, advice=advice)
    elif isinstance(spec, type) or not (callable(getattr(spec, method, None)) or callable(spec)):
        problem = f"{what_is(spec)} cannot be used as {place}"
        raise ConfigError(problem, place=place, advice=f"give 'vendor:name', {means}")


def _opened(vendors: Registry, spec: object, port: type) -> object:
    if isinstance(spec, str):
        vendor, _, name = spec.partition(":")
        return cast("Callable[[str], object]", vendors.load(vendor))(name)
    return spec if isinstance(spec, port) else FunctionProvider(cast("Callable[..., Any]", spec))


def provider_of(provider: object) -> str:
    """Who answers: the attribute ``provider`` of the object, or the package of its class."""
    return _stated(provider, "provider") or type(provider).__module__.split(".")[0]


def name_of(provider: object) -> str:
    """The name of a model or an embedder in results and caches: its own, or its class's."""
    return _stated(provider, "name") or type(provider).__name__


def _stated(provider: object, attribute: str) -> str:
    """The text of an attribute; empty without it."""
    text = getattr(provider, attribute, None)
    return text if isinstance(text, str) else ""
