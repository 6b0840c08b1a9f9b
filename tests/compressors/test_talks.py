"""Where nobody acts, what is said counts by what it says, and not by how little it costs."""

from __future__ import annotations

import random

import holdfast

SHORT = "lol|yes obviously|5am|nooo|birds|okay okay|bye|hm|why not|a bush did it|pass|sure|me too"
PLANS = (
    "We moved the hike to the 16th because the hut is full on the 9th.",
    "The deposit of 400 was paid by me, so everybody owes me 50.",
    "Nobody needs to bring ropes, the club lends us six of them.",
    "The train leaves at 06:52 from platform 4, be there ten minutes early.",
    "We sleep in the upper hut, the lower one takes no dogs.",
)


def chatter(seed, count):
    chance = random.Random(seed)
    words = "river cheese ladder tunnel violet anchor pepper window saddle copper".split()
    for number in range(count):
        short = chance.choice(SHORT.split("|"))
        yield {"role": "user", "content": f"{short} {chance.choice(words)}"}
        if number % 3 == 0:
            told = " ".join(chance.choices(words, k=14))
            yield {"role": "assistant", "content": f"I read that as a remark on the {told}."}


def talk():
    messages = [{"role": "user", "content": "You are the bot of our hiking group. Just listen."}]
    for number, plan in enumerate(PLANS):
        messages += [*chatter(number, 14), {"role": "user", "content": plan}]
    return [*messages, *chatter(99, 14)]


def test_interjections_do_not_displace_what_was_agreed():
    messages = [*talk(), {"role": "user", "content": "Sum up for everybody what we agreed on."}]
    budget = holdfast.count(messages).total // 4
    shown = str(holdfast.compress(messages, budget).messages)
    assert [plan for plan in PLANS if plan not in shown] == []


def test_what_the_other_side_told_stays_beside_the_moves():
    messages = [{"role": "user", "content": "Be the master of our game. I start at the gate."}]
    for number in range(30):
        room, coins = f"vault {number}", number * 7 + 3
        messages += [
            {"role": "user", "content": f"Go {('left', 'right', 'down')[number % 3]}."},
            {
                "role": "assistant",
                "content": f"You enter {room}. A guard takes your lamp, and you now have {coins} "
                f"coins and the key of house {number * 13 % 31}. The door behind you is shut.",
            },
        ]
    messages.append({"role": "user", "content": "What do I have, and which doors are shut?"})
    result = holdfast.compress(messages, holdfast.count(messages).total * 2 // 5)
    notes = next(m["content"] for m in result.messages if "[HISTORY_SUMMARY" in m["content"])
    assert notes.count("- assistant: ") >= 6
    assert notes.count("coins") >= 6


def test_a_question_among_passages_is_the_one_that_is_answered():
    towns = ("Porto", "Braga", "Faro", "Lagos", "Tavira", "Evora")
    messages = []
    for town in towns:
        manual = "\n\n".join(
            f"[{n}] The ledger of {town} keeps account {n * 37} for a year, and page {n} names who."
            for n in range(12)
        )
        asked = f"Question: who closes the ledger of {town}?"
        messages += [
            {"role": "user", "content": f"Use this context.\n\n{manual}\n\n{asked}"},
            {"role": "assistant", "content": f"The deputy in {town}."},
        ]
    shown = str(holdfast.compress(messages, 1_000).messages)
    assert sum(f"The deputy in {town}." in shown for town in towns) == len(towns)


def test_where_several_users_speak_notes_say_who_said_what():
    messages = [{"role": "user", "name": "Lena", "content": "We plan the ski weekend here."}]
    for number in range(24):
        name, paid = ("Lena", "Raj", "Tom")[number % 3], number * 7 + 13
        said = f"I paid {paid}.20 for the bread of day {number} and bring {number + 2} sledges."
        messages.append({"role": "user", "name": name, "content": said})
    messages.append({"role": "user", "name": "Tom", "content": "Who paid what? Settle it."})
    budget = holdfast.count(messages).total // 2
    shown = holdfast.compress(messages, budget).messages
    notes = next(m["content"] for m in shown if "[HISTORY_SUMMARY" in m["content"]).split("\n")
    told = [line for line in notes if "I paid" in line]
    assert len(told) >= 6
    for line in told:
        number = int(line.partition("of day ")[2].split()[0])
        assert line.startswith(f"- {('Lena', 'Raj', 'Tom')[number % 3]}: I paid {number * 7 + 13}.")
    with holdfast.Session("ski", budget=budget) as session:
        session.append(*messages)
        assert "Raj: I paid 20.20" in str(session.fit(query="Who paid 20.20?").messages)


REVISED = (
    ("The contact at the vendor is Dr. Okafor, in building 4.", "Dr. Okafor left, write to Lund."),
    ("The rehearsal is on 18 October.", "The 18 is taken, so the rehearsal is on 23 instead."),
    ("Our server is called heron-3.", "Forget heron-3, everything is on osprey-1 now."),
)


def revised(chance):
    """A chat in which a user revises what the user said, among other things that are said."""
    words = "river cheese ladder tunnel violet anchor pepper window saddle copper garden".split()
    told = [[old, new] for old, new in REVISED]
    messages = [{"role": "user", "content": "Help me with the festival, step by step."}]
    for number in range(60):
        said = " ".join(chance.choices(words, k=18)).capitalize()
        if number in (6, 14, 22):
            said += f". {told[number // 8][0]}"
        if number in (30, 38, 46):
            said += f". {told[number // 8 - 3][1]}"
        messages.append({"role": "user", "content": f"{said}."})
        messages.append(
            {"role": "assistant", "content": f"Fine, {' '.join(chance.choices(words))}."}
        )
    return [*messages, {"role": "user", "content": "What is next?"}]


def test_what_a_user_revised_is_not_told_without_the_revision():
    for seed in range(6):
        messages = revised(random.Random(seed))
        whole = holdfast.count(messages).total
        for share in (3, 4, 6, 8, 12):
            shown = str(holdfast.compress(messages, whole // share).messages)
            for old, new in REVISED:
                assert old.split(".")[-2][-12:] not in shown or new[-12:] in shown, (seed, share)


def test_what_a_user_revised_is_not_told_alone_where_the_assistant_repeats_it():
    bare = 0
    for seed in range(6):
        messages = revised(random.Random(seed))
        messages[9] = {"role": "user", "content": "Bucket is photos-nbg. Kept for 400 days."}
        messages[10]["content"] = "Then the rule of photos-nbg has `<Days>400</Days>`."
        messages[37] = {"role": "user", "content": "No: river cheese ladder 365, anchor 400."}
        whole = holdfast.count(messages).total
        for share in (3, 4, 6, 8, 12):
            shown = str(holdfast.compress(messages, whole // share).messages)
            bare += "Kept for 400 days" in shown and "ladder 365" not in shown
    assert bare == 0


def made_up(chance):
    """A word that nobody repeats."""
    parts = ("bdfgklm", "aeiou", "nprst", "aeiou", "lmnr")
    return "".join(map(chance.choice, parts))


def explained(chance, number):
    """What an assistant answers: an explanation in words that nobody repeats, and a finding."""
    told = " ".join(made_up(chance) for _ in range(16))
    name, town, other = (made_up(chance).title() for _ in range(3))
    price = f"EUR {number * 137 + 1208}"
    findings = (
        f"{name} of {town} asks {price}.",
        f"For {price} one gets the {name} oven from {town}.",
        f"The cheapest is {name} {other} at {price}.",
        f"{town} delivers it for {price}, says {name}.",
        f"With {other} by {name} it comes to {price}.",
    )
    return f"In general {told} matters.\n\n{findings[number % len(findings)]}"


def test_figures_and_names_are_kept_before_explanations():
    kept = asked = 0
    for seed in range(4):
        chance = random.Random(seed)
        messages = [{"role": "user", "content": "Help me compare offers for the new kitchen."}]
        for number in range(30):
            messages += [
                {"role": "user", "content": f"And what about number {number}?"},
                {"role": "assistant", "content": explained(chance, number)},
            ]
        messages.append({"role": "user", "content": "Good, let us go on."})
        shown = str(holdfast.compress(messages, holdfast.count(messages).total // 3).messages)
        kept += sum(f"EUR {number * 137 + 1208}" in shown for number in range(30))
        asked += 30
    assert kept > asked / 3


PASTED = {
    "could not get a connection": """Here is what the service printed:

08:14:02,118 INFO  [main] acme.pay.Boot - starting version 4.11.2
08:14:03,220 INFO  [main] acme.pay.Pool - pool size 20, timeout 30000
08:14:09,401 WARN  [exec-3] acme.pay.Ledger - slow query 4120 ms
08:14:39,413 ERROR [exec-3] acme.pay.Pool - could not get a connection within 30000 ms
java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available
\tat com.zaxxer.hikari.pool.HikariPool.getConnection(HikariPool.java:197)
\tat com.acme.pay.Ledger.book(Ledger.java:88)
08:14:39,500 INFO  [exec-4] acme.pay.Http - POST /book 503 30012 ms

It only happens in Frankfurt.""",
    "audit.write(e)": """This is the method now:

```java
public void book(Entry e) {
    try (Connection c = pool.getConnection()) {
        insert(c, e);
        audit.write(e);
        c.commit();
    }
}
```

Audit must stay in there.""",
    "44400": """These are the offers:

| vendor | price | weeks | wood |
|---|---|---|---|
| Hartmann | 41200 | 9 | oak |
| Bellini | 52300 | 6 | steel |
| Ostermann | 36100 | 14 | pine |
| Ferro | 47750 | 8 | beech |
| Lignum | 44400 | 10 | ash |

I like Lignum best.""",
}


def test_what_a_user_pastes_is_kept_before_explanations():
    for needed, pasted in PASTED.items():
        chance = random.Random(1)
        messages = [{"role": "user", "content": "Help me with this, step by step."}]
        for number in range(30):
            asked = pasted if number == 8 else f"And {' '.join(map(made_up, [chance] * 5))}?"
            told = [explained(chance, number), explained(chance, number + 1)]
            messages += [
                {"role": "user", "content": asked},
                {"role": "assistant", "content": "\n\n".join(told)},
            ]
        messages.append({"role": "user", "content": "Good, let us go on."})
        shown = str(holdfast.compress(messages, holdfast.count(messages).total // 5).messages)
        assert needed in shown
