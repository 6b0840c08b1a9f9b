"""Each parser finds the same declarations in each of the languages."""

from __future__ import annotations

import pytest

from holdfast.content.code import by_ast, by_indent, by_tree
from holdfast.content.code.languages import language_of
from holdfast.content.code.lines import SourceLines
from tests.contracts.content_contract import real_texts

CPP = """\
#include <memory>
#include <string>

namespace parcel {

template <typename T>
class Queue {
public:
    explicit Queue(std::size_t size)
        : size_(size) {
        items_.reserve(size);
    }

    bool push(T item) {
        if (items_.size() == size_) {
            return false;
        }
        items_.push_back(std::move(item));
        return true;
    }

private:
    std::size_t size_;
    std::vector<T> items_;
};

std::string describe(const Queue<int>& queue) {
    auto text = std::to_string(queue.count());
    return text + " items";
}

}  // namespace parcel
"""
CSHARP = """\
using System;
using System.Collections.Generic;

namespace Parcel.Tracking
{
    public interface IClock
    {
        DateTime Now { get; }
    }

    public sealed class Tracker
    {
        private readonly Dictionary<string, DateTime> seen = new();

        public int Count { get; private set; }

        public Tracker(IClock clock)
        {
            Clock = clock;
        }

        public async Task<bool> Report(string id)
        {
            await Task.Delay(10);
            seen[id] = Clock.Now;
            return true;
        }
    }
}
"""
PHP = """\
<?php

namespace App\\\\Parcel;

use App\\\\Clock;

interface Store
{
    public function find(string $id): ?Parcel;
}

final class Tracker
{
    private array $seen = [];

    public function __construct(private Clock $clock)
    {
        $this->seen = [];
    }

    public function report(string $id): bool
    {
        $this->seen[$id] = $this->clock->now();
        return true;
    }
}

function describe(Tracker $tracker): string
{
    foreach ($tracker->all() as $id) {
        echo $id;
    }
    return 'done';
}
"""
RUBY = """\
require 'json'
require_relative 'clock'

module Parcel
  class Tracker
    attr_reader :seen

    def initialize(clock)
      @clock = clock
      @seen = {}
    end

    def report(id)
      @seen[id] = @clock.now
      puts "seen #{id}" unless quiet?
      true
    end

    def self.open(path)
      new(JSON.parse(File.read(path)))
    end
  end
end
"""
PYTHON = '''\
"""Tracking."""

import json
from dataclasses import dataclass

LIMIT = 3


@dataclass
class Tracker:
    """Where parcels are."""

    seen: dict

    @property
    def count(self) -> int:
        return len(self.seen)

    async def report(
        self,
        parcel: str,
    ) -> bool:
        self.seen[parcel] = 1
        return True


def describe(tracker):
    def inner():
        return 1

    return str(tracker) + json.dumps(inner())
'''
INLINE = {
    "cpp": (CPP, {"template <typename T>", "class Queue", "explicit Queue", "bool push", "std::string describe"}),
    "csharp": (CSHARP, {"class Tracker", "public Tracker(", "Task<bool> Report", "interface IClock"}),
    "php": (PHP, {"interface Store", "class Tracker", "__construct", "function report", "function describe"}),
    "ruby": (RUBY, {"module Parcel", "class Tracker", "def initialize", "def report", "def self.open"}),
    "python": (PYTHON, {"@dataclass", "@property", "async def report", "def describe"}),
}
REAL = {
    "javascript": {"class JobError", "class JobQueue", "function backoff", "async fail(", "function drainParked"},
    "typescript": {
        "interface Session",
        "class SessionStore",
        "async authorize(",
        "function isExpired",
        "requireScope",
    },
    "java": {"class InvoiceService", "Invoice draft(", "Invoice applyLateFee(", "interface UsageRepository"},
    "c": {"struct ring {", "bool ring_write(", "static int self_test", "int main("},
    "go": {"func New(", "func (l *Limiter) take(", "func (l *Limiter) Wait("},
    "rust": {"pub struct Log", "impl Log", "pub fn open", "pub fn append", "pub fn checksum"},
}
SOURCES = {name: (text, wanted) for name, (text, wanted) in INLINE.items()} | {
    name: (real_texts("code")[name].text, wanted) for name, wanted in REAL.items()
}


def first_lines(lines, declarations):
    return {lines[one.start].strip() for one in declarations}


@pytest.mark.parametrize("name", SOURCES)
def test_the_language_is_known(name):
    language = language_of(SOURCES[name][0].split("\n"))
    assert language is not None
    assert language.name == name


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("parser", [by_tree, by_indent])
def test_declarations_are_found(name, parser):
    text, wanted = SOURCES[name]
    lines = text.split("\n")
    found = parser.declarations(lines, name)
    first = first_lines(lines, found)
    # a template's or an attribute's line stands before the declaration that it belongs to
    around = {"\n".join(lines[one.start : one.body]) for one in found}
    assert {want for want in wanted if not any(want in line for line in first | around)} == set()


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("parser", [by_tree, by_indent])
def test_declarations_come_in_order_and_lie_within_each_other(name, parser):
    lines = SOURCES[name][0].split("\n")
    found = parser.declarations(lines, name)
    assert [one.start for one in found] == sorted(one.start for one in found)
    assert all(one.start < one.body <= one.end < len(lines) for one in found)
    ends = []
    for one in found:
        while ends and ends[-1] < one.start:
            ends.pop()
        assert not ends or one.end <= ends[-1]
        ends.append(one.end)


def test_the_standard_parser_of_python_agrees_with_the_grammar():
    lines = PYTHON.split("\n")
    assert by_ast.declarations(lines, "python") == by_tree.declarations(lines, "python")


@pytest.mark.parametrize(
    "source", ["def f(:", "x = 1\x00", "(" * 5_000, "a = " + "-" * 100_000 + "1", "class A:\n" * 200]
)
def test_what_cannot_be_parsed_is_left_to_the_next_parser(source):
    assert by_ast.declarations(source.split("\n"), "python") is None


def test_the_standard_parser_knows_no_other_language():
    assert by_ast.declarations(["func f() {}"], "go") is None


def test_a_language_without_a_grammar_is_left_to_the_next_parser():
    assert by_tree.declarations(["foo() {", "  echo", "}"], "shell") is None


@pytest.mark.parametrize("language", ["rust", "csharp", "cpp"])
def test_a_parser_that_loses_its_way_gives_up(language):
    assert by_tree.declarations(["'" * 300_000], language) is None


@pytest.mark.parametrize("prefix", ["{:6}\t", "{:>5}→", "{}: ", "{}:", "{:4}| ", "{:3}  "])
def test_line_numbers_in_front_are_no_code(prefix):
    numbered = "\n".join(prefix.format(number) + line for number, line in enumerate(PYTHON.split("\n"), start=40))
    lines = SourceLines.of(numbered)
    assert "\n".join(lines.code) == PYTHON
    assert lines.numbers[0] == 40
    assert "\n".join(lines.shown) == numbered


@pytest.mark.parametrize("text", ["1. one\n2. two", "3 x\n1 y", "a\tb\n1\tc", "", "12"])
def test_not_every_number_in_front_is_a_line_number(text):
    assert list(SourceLines.of(text).code) == text.split("\n")
