"""What memory finds: ``python -m benchmarks.retrieval DIR [parts]`` with ``DIR/bench``.

Each dialogue is taken in once; each question then finds its messages and packs them into the
budget, beside the system prompt and the newest message. The benchmark's own scorer judges. With
``parts`` each part is left out in turn. Vectors come from the extra ``local``; without it the words
stand alone, and the output says so.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from time import process_time
from typing import Any
from unittest.mock import patch

from benchmarks.message_index import Index
from holdfast.kernel.errors import MissingExtraError
from holdfast.memory import FactorWeights, Remembered, pack, remembered, written
from holdfast.memory.index import REACH, WORDS_ALONE
from holdfast.tokens import meter_for

HITS = 200
MESSAGE = 4  # tokens that a message costs beside its text
COUNT = meter_for(counter="o200k_base").text
Vectors = Callable[[], Any]


@dataclass(frozen=True)
class Variant:
    """A way to run: ``weights`` None are the usual ones."""

    name: str
    vectors: Vectors | None
    weights: FactorWeights | None = None
    neighbours: bool = True
    packing: bool = True


def local_vectors() -> Vectors | None:
    """Vectors of words from the static embeddings, or None where the extra is not installed."""
    try:
        from holdfast.memory.vectors import WordVectors
        from holdfast.providers.local import LocalEmbedder
    except MissingExtraError:
        return None
    embedder = LocalEmbedder()
    return lambda: WordVectors(embedder)


def variants(vectors: Vectors | None) -> Iterator[Variant]:
    """Everything, then each part left out."""
    usual = FactorWeights() if vectors else WORDS_ALONE
    for name in ("exact", "words", "speaker", "time"):
        yield Variant(f"without {name}", vectors, replace(usual, **{name: 0.0}))
    if vectors:
        yield Variant("without vectors", None)
    yield Variant("without neighbours", vectors, neighbours=False)
    yield Variant("without packing", vectors, packing=False)


def context(
    index: Index,
    messages: dict[int, Remembered],
    case: dict[str, Any],
    question: str,
    *,
    packing: bool,
) -> list[dict[str, str]]:
    """The system prompt, what is found, and the newest message, within the budget of the case."""
    system, newest = case["messages"][0], case["messages"][-1]
    room = (
        case["budget"]
        - sum(MESSAGE + COUNT(message["content"]) for message in (system, newest))
        - MESSAGE
    )
    hits = index.search(question, HITS, max(message.said or 0.0 for message in messages.values()))
    if packing:
        text = written(
            pack((hit.position for hit in hits), messages, room, COUNT, question=question)
        )
        return [system, *([{"role": "user", "content": text}] if text else []), newest]
    found: list[int] = []
    for hit in hits:
        cost = COUNT(messages[hit.position].text) + MESSAGE
        if cost <= room:
            found.append(hit.position)
            room -= cost
    return [system, *(case["messages"][place] for place in sorted(found)), newest]


def results(cases: Sequence[dict[str, Any]], variant: Variant) -> Iterator[dict[str, Any]]:
    """One result a question and budget; a dialogue is taken in once."""
    indexes: dict[str, tuple[Index, dict[int, Remembered]]] = {}
    for case in cases:
        name = case["id"].rpartition("-")[0]
        if name not in indexes:
            index = Index(variant.vectors() if variant.vectors else None, variant.weights)
            said = [
                remembered(at, each["role"], each["content"])
                for at, each in enumerate(case["messages"])
                if each["role"] != "system"
            ]
            for message in said:
                index.add(message)
            indexes[name] = index, {message.position: message for message in said}
        for number, query in enumerate(case["queries"]):
            started = process_time()
            messages = context(*indexes[name], case, query["query"], packing=variant.packing)
            yield {
                "id": case["id"],
                "query": number,
                "messages": messages,
                "seconds": process_time() - started,
            }


def scored(bench: Path, variant: Variant) -> None:
    """Run a variant, let the scorer judge it, and tell how long a fit took."""
    cases = [
        json.loads(line) for line in (bench / "cases.locomo.jsonl").read_text("utf-8").splitlines()
    ]
    with tempfile.TemporaryDirectory() as folder, patch.dict(REACH, clear=not variant.neighbours):
        out = Path(folder) / variant.name.replace(" ", "_")
        rows = list(results(cases, variant))
        out.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
        command = [
            sys.executable,
            str(bench / "score.py"),
            str(bench / "cases.locomo.jsonl"),
            str(out),
        ]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    recall = {}
    for line in told.splitlines():
        parts = dict(part.split("=") for part in line.split() if part.count("=") == 1)
        recall[line.split("@")[1].split()[0]] = f"{float(parts['recall']):.3f}" + (
            "" if float(parts["fits"]) == 1 else " OVER BUDGET"
        )
    times = [1_000 * row["seconds"] for row in rows]
    budgets = "  ".join(f"{budget}: {recall[budget]}" for budget in sorted(recall, key=int))
    p95 = quantiles(times, n=20)[-1]
    print(f"{variant.name:26} {budgets}  fit {median(times):.1f} ms median, {p95:.1f} ms p95")


def main(arguments: list[str]) -> int:
    """Print recall at each budget; 2 if the benchmark is not where it was said to be."""
    bench = Path(arguments[0]) / "bench" if arguments else Path("bench")
    if not (bench / "score.py").is_file():
        print(f"retrieval: {bench}: there is no score.py here; name the folder that holds bench/")
        return 2
    vectors = local_vectors()
    if vectors is None:
        print("retrieval: the extra local is not installed: words stand alone")
    scored(bench, Variant("everything", vectors))
    if "parts" in arguments[1:]:
        for variant in variants(vectors):
            scored(bench, variant)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
