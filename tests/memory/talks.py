"""A talk of two people over some months, invented for the tests of memory."""

from benchmarks.message_index import Index
from holdfast.memory import remembered

DAYS = {
    "(10:00 am on 3 March, 2024)": [
        "Nora: Hi Ben! How are you?",
        "Ben: Great, thanks! I adopted a beagle from the shelter on Friday.",
        "Nora: That is so sweet! What is her name?",
        "Ben: Pepper. She chewed through two cables of my router already.",
        "Nora: Ha ha. I am busy with the marathon, I run forty kilometres a week.",
    ],
    "(6:12 pm on 21 April, 2024)": [
        "Ben: Hey Nora! Long time no see!",
        "Nora: Hey! I finished the Berlin marathon in four hours and two minutes.",
        "Ben: Wow, congratulations!",
        "Ben: I opened a ticket about invoice INV-2041, they charged me 41.20 EUR twice.",
        "Nora: Did they answer?",
        "Ben: Not yet. The support is at https://help.example.org/tickets/778.",
    ],
    "(8:30 am on 2 June, 2024)": [
        "Nora: Good morning! I started a pottery class yesterday.",
        "Ben: What do you make there?",
        "Nora: Bowls, and a blue cup for my sister Alma.",
        "Ben: I moved to Lisbon last week, the flat has a balcony over the river.",
        "Nora: Amazing!",
    ],
}


def talk():
    """The messages of the talk as memory sees them."""
    lines = [f"{day} {line}" for day, said in DAYS.items() for line in said]
    roles = ["user" if " Ben: " in line else "assistant" for line in lines]
    return [
        remembered(at, role, line) for at, (role, line) in enumerate(zip(roles, lines, strict=True))
    ]


def index_of(messages, vectors=None):
    """An index with the messages."""
    index = Index(vectors)
    for message in messages:
        index.add(message)
    return index
