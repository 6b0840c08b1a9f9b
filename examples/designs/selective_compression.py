"""SelectiveCompression: what leaves hot memory is kept, and comes back when a question needs it."""

from holdfast import Session
from holdfast.memory.tiers import TierSizes

session = Session("shop", budget=600, tiers=TierSizes(hot=400, warm=1_200, cold=4_000))
session.append({"role": "user", "content": "Important: the door code of the depot is 4711."})
for n in range(60):
    session.append(
        {"role": "assistant", "content": f"Parcel {n} went to street {n}."},
        {"role": "user", "content": f"And parcel {n + 1}, please?"},
    )
view = session.fit(query="What is the door code of the depot?")
print("in the view:", any("4711" in str(message) for message in view.messages))
print("tokens:", view.tokens <= 600, "everything kept:", session.stats().messages)
