"""A chat with OpenAI's own package: what is sent fits, what was said is kept.

Needs ``pip install openai`` and OPENAI_API_KEY; OPENAI_BASE_URL may name another server.
"""

import sys

import openai

import holdfast


def main(questions: list[str]) -> None:
    """Ask one question after another in one conversation."""
    client = openai.OpenAI()
    with holdfast.open("chat.db") as store, store.thread("with-openai", budget="2k") as session:
        for question in questions:
            session.append({"role": "user", "content": question})
            answer = client.chat.completions.create(
                model="gpt-4o-mini", messages=session.fit().messages
            )
            session.append(answer.choices[0].message)
            print(answer.choices[0].message.content)


if __name__ == "__main__":
    main(sys.argv[1:] or ["Which port has the gateway?"])
