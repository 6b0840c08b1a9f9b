"""The server of the vendors, and their models as clients of it."""

from __future__ import annotations

import pytest

from holdfast.providers.anthropic import AnthropicModel
from holdfast.providers.gemini import GeminiEmbedder, GeminiModel
from holdfast.providers.openai import OpenAIEmbedder, OpenAIModel
from tests.providers.vendors import Vendors

MODELS = {"openai": OpenAIModel, "anthropic": AnthropicModel, "gemini": GeminiModel}
EMBEDDERS = {"openai": OpenAIEmbedder, "gemini": GeminiEmbedder}


@pytest.fixture
def vendors():
    server = Vendors()
    yield server
    server.close()


@pytest.fixture(params=sorted(MODELS))
def model(vendors, request):
    """A model of each vendor, through the vendor's own package."""
    wire = request.param
    return MODELS[wire]("a-model", api_key="a-key", base_url=vendors.base(wire), timeout=5)


@pytest.fixture(params=sorted(EMBEDDERS))
def embedder(vendors, request):
    wire = request.param
    return EMBEDDERS[wire]("an-embedder", api_key="a-key", base_url=vendors.base(wire), timeout=5)
