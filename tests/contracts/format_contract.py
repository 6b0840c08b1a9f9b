"""What every wire format keeps to: a format's test is three fixtures."""

from __future__ import annotations

import copy
import json

import pytest

from holdfast.formats import detect
from holdfast.kernel.messages import Media, Opaque, Reasoning, Text, ToolResult


class FormatContract:
    """``form`` is the format, ``messages`` a valid list with every kind of part, ``body`` a
    request around it.
    """

    @pytest.fixture
    def form(self):
        raise NotImplementedError

    @pytest.fixture
    def messages(self):
        raise NotImplementedError

    @pytest.fixture
    def body(self, messages):
        return {"messages": messages}

    def test_its_messages_are_recognised_without_a_name(self, form, messages, body):
        assert detect(messages).name == form.name
        assert detect(body).name == form.name
        assert detect(tuple(messages)).name == form.name

    def test_messages_stand_in_a_list_or_under_a_field_of_a_body(self, form, messages, body):
        assert form.key(messages) == ""
        assert body[form.key(body)] is messages

    def test_an_untouched_message_is_the_very_same_object(self, form, messages, body):
        for payload in (messages, body):
            read = form.read(payload).messages
            assert len(read) == len(messages)
            assert all(
                message.original is original
                for message, original in zip(read, messages, strict=True)
            )

    def test_reading_changes_nothing(self, form, messages, body):
        before = copy.deepcopy(body)
        for message in form.read(body).messages:
            assert message.parts == form.parts(message.original)
        assert body == before

    def test_a_message_that_is_one_text_is_known_without_reading_its_parts(self, form):
        (message,) = form.read([{"role": "user", "content": "hello"}]).messages
        assert message.plain == "hello"
        assert "parts" not in vars(message)
        assert [part.text for part in message.parts] == ["hello"]

    def test_one_part_that_says_something_else_changes_only_itself(self, form, messages):
        said = '{"said":"something else"}'
        for message in form.read(messages).messages:
            before = copy.deepcopy(message.original)
            for k, part in enumerate(message.parts):
                if isinstance(part, Media | Opaque | Reasoning):
                    continue
                changed = message.saying({k: said})
                assert said in changed.parts[k].text
                assert [p for j, p in enumerate(changed.parts) if j != k] == [
                    p for j, p in enumerate(message.parts) if j != k
                ]
                assert list(changed.original) == list(message.original)
                assert changed.role == message.role
                assert changed.parts == form.parts(changed.original)
            assert message.original == before

    def test_what_is_not_changed_is_shared_and_not_copied(self, form, messages):
        for message in form.read(messages).messages:
            if isinstance(message.parts[0], Text | ToolResult):
                changed = message.saying({0: "something else"})
                others = [
                    field
                    for field in message.original
                    if field not in ("content", "parts", "refusal", "output")
                ]
                assert all(changed.original[field] is message.original[field] for field in others)

    def test_a_new_message_reads_back_as_what_was_said(self, form):
        for role in ("user", "assistant"):
            (message,) = form.read([form.compose(role, "hello")]).messages
            assert (message.role, message.content_text) == (role, "hello")

    def test_a_valid_conversation_breaks_no_rule(self, form, messages):
        transcript = form.read(messages)
        assert [v for rule in transcript.rules for v in rule.violations(transcript.messages)] == []

    def test_rules_have_names_of_their_own(self, form):
        names = [rule.name for rule in form.rules]
        assert len(set(names)) == len(names)

    def test_tool_schemas_are_counted_beside_the_messages(self, form, messages):
        schema = {"name": "read", "description": "Read a file."}
        (part,) = form.read(messages, [schema]).envelope
        assert json.loads(part.text) == schema

    def test_an_empty_list_is_a_conversation_without_messages(self, form):
        assert form.read([]).messages == ()
