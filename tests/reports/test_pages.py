"""A page with one table: its figures stand whole, on a wide page and on a narrow one."""

import re

from holdfast.reports.pages import table_page

PAGE = table_page("store", "2 threads", ("name", "tokens", "net <$>"), [("a", "1,234", "0.5")] * 2)


def test_a_narrow_page_names_the_column_of_each_figure():
    assert PAGE.count('<td data-head="tokens">1,234</td>') == 2
    assert PAGE.count('<td data-head="net &lt;$&gt;">0.5</td>') == 2
    narrow = PAGE.partition("@media (max-width: 52rem) {\n  thead")[2].partition("</style>")[0]
    assert "td::before { content: attr(data-head);" in narrow


def test_no_figure_is_broken_into_lines():
    for cells in (r"main :is\(th, td\):nth-child\(n\)", r"main th:first-child"):
        assert re.search(rf"^{cells} {{", PAGE, re.MULTILINE)
    assert "white-space: nowrap; overflow-wrap: normal; }" in PAGE
