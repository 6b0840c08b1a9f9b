"""SlimContext: with a store of one's own, what was summarized once is found again and extended."""

import holdfast
from holdfast.providers.scripted import Scripted

store, model = "memory://slimcontext", Scripted("They planned the release.")
talk = [{"role": "system", "content": "Be brief."}]
for turn in range(1, 31):
    talk += [
        {"role": "user", "content": f"What of point {turn}? " * 20},
        {"role": "assistant", "content": f"Point {turn} is done. " * 20},
    ]
    thread = holdfast.Conversation("release", [*talk, {"role": "user", "content": "Go on."}])
    fits = holdfast.compress(thread, 1_000, strategy="summarizing", llm=model, store=store)
print(f"{len(model.calls)} calls for 30 turns; the thread is {fits.messages.thread_id!r}")
print(fits.messages.messages[1]["content"].splitlines()[1])
