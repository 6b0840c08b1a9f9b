"""Slips of a user that a type checker finds: each line with a mark has to be an error."""

import holdfast

messages = [{"role": "user", "content": "hello"}]

holdfast.compress(messages, 8_000, profile="balancd")  # slip
holdfast.compress(messages, 8_000, strategy="sliding_windw")  # slip
holdfast.compress(messages, 8_000, strategy=["prune", "trimm"])  # slip
holdfast.compress(messages, 8_000, format="opnai")  # slip
holdfast.compress(messages, 8_000, on_failure="rase")  # slip
holdfast.compress(messages, 8_000, modle="gpt-4o")  # slip
holdfast.compress(messages, 8.5)  # slip
holdfast.validate(messages, provider="anthropc")  # slip
holdfast.repair(messages, provider="gpt")  # slip
holdfast.recall_tool("memory://", provider="gemni")  # slip
holdfast.Session("thread-1", profile="fats")  # slip
holdfast.Session("thread-1").report("pdf")  # slip
holdfast.report(holdfast.compress(messages, 8_000), "pdf")  # slip
holdfast.compress(messages, 8_000).messages.keys()  # slip
