import re

import pytest

from holdfast.memory.entities import named_in
from holdfast.memory.forms import HEAVY, LIGHT, RuleCondenser
from holdfast.tokens import meter_for

count = meter_for(counter="o200k_base").text

REPORT = """\
Dana: Good morning! Thanks for taking the time.
Dana: I was charged twice for invoice INV-2041 on 3 May 2024, 41.20 EUR each time.
Agent: Sorry to hear that! Let me look into the account and see what happened there.
Agent: The second charge was made by the terminal in Lisbon after a timeout of the bank.
Dana: So that is why the amount shows up two times in the list of my payments, I see.
Agent: I opened case C-778 and asked the finance team of Maria Lopes for a refund.
Agent: A refund takes some days because the bank has to confirm it before we can send it.
Dana: That is fine with me, I only want to be sure that it does not happen another time.
Agent: The terminal gets new software next week, and until then we check it by hand every evening.
Dana: It was rather annoying, because I had to call the bank two times before anybody could help me.
Agent: I can imagine that, and we will write to everybody who was charged twice in that week.
Dana: Do I have to send you anything, such as a copy of the list or a letter of the bank?
Agent: We have all that we need, because the terminal keeps a list of all the charges by itself.
Dana: Could you also change the delivery address? I moved, and the parcels go to the old place.
Agent: Of course! The new address is 9 Elm Street in Porto, and parcels go there from tomorrow.
Dana: Great, thanks a lot! The confirmation can go to dana@example.org as always, please.
Agent: It is on its way, and https://help.example.org/cases/778 shows how far the refund is."""
MENTIONS = re.compile(
    r"https?://\S+|[\w.]+@[\w.]+\w|[A-Z]+-\d+|\d+(?:\.\d+)?|(?<=[a-z,] )[A-Z][a-z]+(?: "
    r"[A-Z][a-z]+)*"
)


def kept(form):
    wanted = set(MENTIONS.findall(REPORT))
    return len([one for one in wanted if one in form]) / len(wanted)


@pytest.mark.parametrize(
    ("level", "least", "most", "share"), [(LIGHT, 3, 5, 0.95), (HEAVY, 8, 15, 0.80)]
)
def test_a_form_is_as_small_as_its_tier_wants_and_keeps_what_is_named(level, least, most, share):
    form = RuleCondenser().condense(REPORT, level, count)
    assert least <= count(REPORT) / count(form) <= most
    assert kept(form) >= share


def test_the_warm_form_says_who_said_what_in_the_words_of_the_text():
    form = RuleCondenser().condense(REPORT, LIGHT, count)
    said = [line for line in form.splitlines() if not line.startswith("Also named: ")]
    assert said
    for line in said:
        speaker, _, text = line.partition(": ")
        assert speaker in {"Dana", "Agent"}
        assert text.split(". ")[0] in REPORT


@pytest.mark.parametrize(("level", "share"), [(LIGHT, 0.8), (HEAVY, 0.5)])
def test_decisions_of_a_talk_are_kept_before_what_is_told_at_length(level, share):
    decided = [
        "We decided to keep the port 8443 for the gateway.",
        "Ben and I agreed that nobody deploys on a Friday.",
        "The question of the logs is settled: they go to the archive.",
    ]
    said = REPORT.splitlines() * 2
    for at, decision in zip((3, 11, 25), decided, strict=True):
        said.insert(at, f"Dana: {decision}")
    form = RuleCondenser().condense("\n".join(said), level, count)
    assert sum(decision[:-1] in form for decision in decided) >= share * len(decided)


ELECTION = """\
John: Hey Maria, great to chat again! Last week, I decided to run for office again - even though \
I haven't been successful before. Can you believe it?
Maria: Way to go, John! You're doing great. Don't be afraid to take risks, I'm behind you!"""


@pytest.mark.parametrize("level", [LIGHT, HEAVY])
def test_a_short_talk_is_told_by_its_decision_and_not_by_a_greeting(level):
    form = RuleCondenser().condense(ELECTION, level, count)
    assert "Last week, I decided to run for office again" in form
    assert "Way to go" not in form


def test_courtesy_is_not_kept():
    assert "Good morning" not in RuleCondenser().condense(REPORT, LIGHT, count)


@pytest.mark.parametrize("level", [LIGHT, HEAVY])
@pytest.mark.parametrize(
    "text", ["", "ok", "plain words without a name", "INV-2041", "多字节 文本 没有 名字"]
)
def test_a_short_text_never_grows(text, level):
    assert count(RuleCondenser().condense(text, level, count)) <= count(text)


def test_the_same_text_gives_the_same_form():
    forms = {RuleCondenser().condense(REPORT, HEAVY, count) for _ in range(3)}
    assert len(forms) == 1


@pytest.mark.parametrize("level", [LIGHT, HEAVY])
def test_what_a_tool_returned_is_shrunk_by_its_kind(level):
    lines = [f"2024-05-15 10:32:{n % 60:02} INFO worker {n} is idle" for n in range(200)]
    lines[77] = "2024-05-15 10:33:17 ERROR worker 77 lost its connection"
    text = "\n".join(lines)
    form = RuleCondenser().condense(text, level, count)
    assert "worker 77 lost its connection" in form
    assert "×199 worker … is idle" in form
    assert count(form) <= count(text) / 3


@pytest.mark.parametrize(("level", "least", "share"), [(LIGHT, 3, 0.8), (HEAVY, 8, 0.5)])
def test_what_a_pasted_output_names_is_kept(level, least, share):
    models = [f"orca-{n}b" for n in range(7, 57)]
    rows = [
        ",".join([model, *(str(n * prime % 9_973) for prime in range(37, 557, 32))])
        for n, model in enumerate(models)
    ]
    text = "\n".join(["User: model" + ",rate" * 17, *rows])
    form = RuleCondenser().condense(text, level, count)
    assert sum(model in form for model in models) >= share * len(models)
    assert count(form) <= count(text) / least


@pytest.mark.parametrize(
    "text",
    ['It says {"owner": "Nadia Brandt"}.', r"It says {\"owner\": \"Nadia Brandt\"}."],
)
def test_a_field_is_not_named_and_its_value_is(text):
    assert [*named_in(text)] == ["Nadia Brandt"]


SIZES = "\n".join(f"{n * 37} {n / 7:.2f} {n * 3}" for n in range(120))
PASTED = f"""User: The holds are read from the ledger. The pool stays at 12, that is DBA-552.
Here are the sizes of last night, >= 0.5 GB each:

{SIZES}
Assistant: The largest is T-118 with 44.4 GB, and needs 57 minutes; the others end by 23:40."""


@pytest.mark.parametrize("level", [LIGHT, HEAVY])
def test_a_form_of_many_numbers_says_clauses_of_the_text_and_not_a_list_of_numbers(level):
    form = RuleCondenser().condense(PASTED, level, count)
    lines = [line for line in form.splitlines() if not line.startswith("Also named: ")]
    assert "The pool stays at 12" in form
    assert all(line.startswith(("User: ", "Assistant: ")) for line in lines)
    assert not re.search(r"(?:\d[\d.]*, ){3}", form)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Raise the pool gw-pool-b to 35 now.", {"35": "gw-pool-b to 35"}),
        ("There are 200 connections in all.", {"200 connections": "200 connections"}),
        ("9 tests and 9 hosts fail.", {"9 tests": "9 tests", "9 hosts": "9 hosts"}),
        ("The port is 8443.", {"8443": "port is 8443"}),
        ("They paid 41.20 EUR on 3 May.", {"41.20 EUR": "41.20 EUR", "3 May": "3 May"}),
        ("12, 14, 15", {}),
        ("It must be `>=` what is there.", {}),
    ],
)
def test_a_number_is_named_with_the_word_that_it_belongs_to_or_not_at_all(text, told):
    assert {name: label for name, label in named_in(text).items() if name[0] not in "gG"} == told


def test_names_that_no_clause_holds_stand_behind_a_word_that_says_what_they_are():
    *_, last = RuleCondenser().condense(REPORT, LIGHT, count).splitlines()
    assert last.startswith("Also named: ")


def test_the_cold_form_is_of_clauses_of_the_text():
    talk = "\n".join(
        f"Noor: We met at the harbour of Oslo {n} and walked for a while, and then we "
        f"sold the boat Elva-{n} to Ben, "
        "because nobody wanted to repair the engine of it in the winter."
        for n in range(12)
    )
    for line in RuleCondenser().condense(talk, HEAVY, count).splitlines():
        said = re.split(r"; |(?<=\.) ", line.removeprefix("Noor: "))
        assert line.startswith("Also named: ") or all(clause in talk for clause in said)


@pytest.mark.parametrize("meetings", [2, 4, 8])
def test_what_is_denied_is_never_told_without_its_negation(meetings):
    rule = (
        "We will not, under any circumstances that anyone here can imagine at this moment, deploy "
        "billing 2.4.1 to production before legal has signed clause 7 of the contract with UPS."
    )
    heard = (
        "I hear you, and I will keep that in mind while I prepare the plan for the release and the "
        "list of open points."
    )
    minutes = [
        f"The minutes of meeting {n} are ready, and I shall send them to you tomorrow morning."
        for n in range(meetings)
    ]
    talk = "\n".join([f"Noor: {rule}", *(f"Ben: {said}" for said in (heard, *minutes))])
    for level in (LIGHT, HEAVY):
        form = RuleCondenser().condense(talk, level, count)
        assert "deploy" not in form or rule in form


def test_a_log_that_somebody_hands_over_is_shrunk_by_its_kind_behind_his_name():
    lines = [f"2024-05-15 10:32:{n % 60:02} INFO worker {n} is idle" for n in range(200)]
    form = RuleCondenser().condense("User: " + "\n".join(lines), LIGHT, count)
    assert form.startswith("User: [log, ")


@pytest.mark.parametrize("level", [LIGHT, HEAVY])
def test_an_amount_is_not_kept_by_its_digits_elsewhere(level):
    days = " ".join(f"On 2026-0{n}-1{n} at 09:{n}5 the desk was calm and wrote." for n in range(9))
    form = RuleCondenser().condense(f"Of {days} Then 4 tests failed on 7 hosts.", level, count)
    assert "4 tests" in form
    assert "7 hosts" in form


def test_the_numbers_of_printed_lines_are_no_amounts():
    listed = "\n".join(f"{40 + n}\tdef step_{n}(self): return build(self)" for n in range(40))
    form = RuleCondenser().condense(f"User: Look.\n{listed}\nAssistant: Seen.", HEAVY, count)
    assert not re.search(r"\d+ def", form)
