"""Declarations by the grammars of tree-sitter (the extra ``code``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import cast

from holdfast.kernel.errors import MissingExtraError
from holdfast.kernel.registry import Registry

from .outline import Declaration

try:
    from tree_sitter import Language, Node, Parser, Tree
except ImportError as missing:
    raise MissingExtraError("parsing source code", "code") from missing

GRAMMARS = Registry(
    noun="grammar",
    group="grammars",
    table={
        "python": "tree_sitter_python:language",
        "javascript": "tree_sitter_javascript:language",
        "typescript": "tree_sitter_typescript:language_tsx",
        "java": "tree_sitter_java:language",
        "c": "tree_sitter_c:language",
        "cpp": "tree_sitter_cpp:language",
        "csharp": "tree_sitter_c_sharp:language",
        "go": "tree_sitter_go:language",
        "rust": "tree_sitter_rust:language",
        "php": "tree_sitter_php:language_php",
        "ruby": "tree_sitter_ruby:language",
    },
)

# The names that the grammars give to what declares. They do not clash, so one table serves all.
_FUNCTIONS = frozenset(
    """
    function_definition function_declaration generator_function_declaration method_definition method_declaration
    constructor_declaration compact_constructor_declaration destructor_declaration operator_declaration
    property_declaration indexer_declaration local_function_statement function_item method singleton_method
    arrow_function function_expression generator_function static_initializer
    """.split()
)
_HOLDERS = frozenset(
    """
    class_definition class_declaration abstract_class_declaration interface_declaration enum_declaration
    record_declaration annotation_type_declaration struct_declaration namespace_declaration namespace_definition
    internal_module module class singleton_class struct_specifier union_specifier enum_specifier class_specifier
    type_declaration impl_item trait_item mod_item struct_item enum_item union_item trait_declaration
    """.split()
)
_TRANSPARENT = frozenset(
    """
    program source_file translation_unit compilation_unit module block class_body interface_body enum_body
    enum_body_declarations declaration_list field_declaration_list body_statement export_statement
    decorated_definition lexical_declaration variable_declaration variable_declarator expression_statement
    assignment_expression object pair statement_block linkage_specification preproc_if preproc_ifdef preproc_else
    template_declaration declaration type_definition file_scoped_namespace_declaration if_statement try_statement
    call_expression arguments parenthesized_expression ambient_declaration enum_member_declaration_list
    compound_statement enum_declaration_list type_spec
    """.split()
)
_WRAPPERS = frozenset(
    """
    decorated_definition export_statement template_declaration ambient_declaration type_definition
    lexical_declaration variable_declaration variable_declarator
    """.split()
)
_FREE_STEPS, _STEPS_A_BYTE = 100, 0.03  # of the parser's progress; real files need at most 0.02 a byte
_CHUNK = 1 << 16  # bytes that the parser is given at a time
_DEEPEST = 40  # nodes; what lies deeper is no declaration that a reader looks for


def declarations(lines: Sequence[str], language: str) -> list[Declaration] | None:
    """Every class and function outside of functions; None if the language is unknown or the parser loses its way.

    Raises MissingExtraError where the grammar is not installed.
    """
    if language not in GRAMMARS.table:
        return None
    tree = _parsed("\n".join(lines).encode("utf-8", "replace"), language)
    if tree is None:
        return None
    found: list[Declaration] = []
    waiting = [(tree.root_node, 0, tree.root_node.start_point.row)]
    while waiting:
        node, depth, start = waiting.pop()
        inside = node
        if depth and node.type in _FUNCTIONS:
            found.append(_declaration(node, start, lines, holds=False))
            continue
        if depth and node.type in _HOLDERS:
            found.append(_declaration(node, start, lines, holds=True))
            inside = node.child_by_field_name("body") or node
        elif node.type not in _TRANSPARENT:
            continue
        if depth < _DEEPEST:
            wraps = depth > 0 and node.type in _WRAPPERS
            waiting += [
                (child, depth + 1, start if wraps else child.start_point.row)
                for child in reversed(inside.named_children)
            ]
    return [one for one in found if one.body <= one.end]


def _declaration(node: Node, start: int, lines: Sequence[str], *, holds: bool) -> Declaration:
    body = node.child_by_field_name("body") or node.child_by_field_name("accessors")
    first = node.start_point.row + 1
    if body is not None:
        row, column = body.start_point
        code = lines[row].lstrip()
        own_line = len(lines[row]) - len(code) == column and not code.startswith("{")
        first = max(first, row if own_line else row + 1)
    return Declaration(start, first, node.end_point.row, holds)


def _parsed(source: bytes, language: str) -> Tree | None:
    """The syntax tree; None if parsing takes far more steps than source code needs, as garbage can make it."""
    whole = memoryview(source)
    steps = 0

    def gives_up(offset: int, _failed: bool) -> bool:
        nonlocal steps
        steps += 1
        return steps > _FREE_STEPS + _STEPS_A_BYTE * offset

    try:
        return Parser(_language(language)).parse(
            lambda offset, _point: whole[offset : offset + _CHUNK], progress_callback=gives_up
        )
    except ValueError:  # given up
        return None


@cache
def _language(name: str) -> Language:
    try:
        grammar = cast("Callable[[], object]", GRAMMARS.load(name))
    except ImportError as missing:
        raise MissingExtraError(f"parsing {name}", "code") from missing
    return Language(grammar())
