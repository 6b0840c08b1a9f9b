"""Every model and every embedder keeps to its contract."""

import pytest

from holdfast.providers import open_embedder, open_model
from tests.contracts.model_contract import EmbedderContract, ModelContract


class TestVendors(ModelContract):
    """The models of the vendors, over HTTP."""


class TestModelsOfThisProcess(ModelContract):
    @pytest.fixture(params=["extractive", "scripted:fine"])
    def model(self, request):
        return open_model(request.param)


class TestFunctions(ModelContract):
    @pytest.fixture
    def model(self):
        return open_model(lambda prompt: prompt.upper())


class TestEmbeddersOfVendors(EmbedderContract):
    """The embedders of the vendors, over HTTP."""


class TestEmbeddersOfThisProcess(EmbedderContract):
    @pytest.fixture(params=["lexical", "local"])
    def embedder(self, request):
        return open_embedder(request.param)


class TestFunctionsThatEmbed(EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return open_embedder(lambda texts: [[float(len(text))] for text in texts])
