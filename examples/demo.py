"""Fit a recorded conversation, and show what happened to each message and its original."""

import argparse
import json
import tempfile
from pathlib import Path

import holdfast

HERE = Path(__file__).parent


def main() -> None:
    """Compress, report, and take everything back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", default=str(HERE / "openai_failing_tests.json"))
    parser.add_argument("--budget", type=int, default=8_000)
    asked = parser.parse_args()
    messages = json.loads(Path(asked.file).read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        result = holdfast.compress(messages, asked.budget, store=f"sqlite:///{folder}/originals.db")
        print(f"{Path(asked.file).name}, fitted to {asked.budget:,} tokens\n")
        print(holdfast.report(result))
    page = Path(tempfile.gettempdir()) / "holdfast-demo.html"
    page.write_text(holdfast.report(result, form="html"), "utf-8")
    exact = holdfast.restore(holdfast.CompressionResult.from_json(result.to_json())) == messages
    print(f"\nThe same as a page: {page}")
    print(
        f"Every original came back from the result's own JSON: {'yes, exactly' if exact else 'NO'}"
    )


if __name__ == "__main__":
    main()
