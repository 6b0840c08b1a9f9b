"""What every model and every embedder does, whoever answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdfast.kernel.ports import Embedder, Model, Reply
from holdfast.providers import name_of, open_embedder, open_model

PROMPT = "| The build failed with error E4021 in /srv/app/main.py because the key had expired."


class ModelContract:
    """Give the fixture ``model``."""

    def said(self, model: Model, **options: object) -> str:
        answer = model.complete(PROMPT, **options)
        return answer.text if isinstance(answer, Reply) else answer

    def test_it_is_a_model_and_taken_as_it_is(self, model: Model) -> None:
        assert isinstance(model, Model)
        assert open_model(model) is model

    def test_it_has_a_name(self, model: Model) -> None:
        assert name_of(model)

    def test_it_answers_with_text_with_instructions_and_without(self, model: Model) -> None:
        assert self.said(model)
        assert self.said(model, system="Be brief.", max_tokens=100)

    def test_usage_is_told_in_whole_tokens_or_not_at_all(self, model: Model) -> None:
        answer = model.complete(PROMPT)
        if isinstance(answer, Reply):
            assert all(
                tokens is None or tokens >= 0
                for tokens in (answer.input_tokens, answer.output_tokens)
            )


class EmbedderContract:
    """Give the fixture ``embedder``."""

    TEXTS: Sequence[str] = ("The build failed.", "", "A dog ran home.", "The build failed.")

    def test_it_is_an_embedder_and_taken_as_it_is(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert open_embedder(embedder) is embedder

    def test_it_has_a_name(self, embedder: Embedder) -> None:
        assert name_of(embedder)

    def test_each_text_gets_a_vector_of_finite_numbers_and_all_are_of_one_length(
        self, embedder: Embedder
    ) -> None:
        rows = [list(row) for row in embedder.embed(self.TEXTS)]
        assert len(rows) == len(self.TEXTS)
        assert len({len(row) for row in rows}) == 1
        assert all(math.isfinite(number) for row in rows for number in row)

    def test_equal_texts_get_equal_vectors_whatever_stands_beside_them(
        self, embedder: Embedder
    ) -> None:
        first, *_, last = (list(row) for row in embedder.embed(self.TEXTS))
        (alone,) = (list(row) for row in embedder.embed(self.TEXTS[:1]))
        assert first == last == alone
