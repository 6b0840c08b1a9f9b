"""tunacode: before each request old tool outputs are cleared in the agent's own list."""

import holdfast

history = []
for n in range(9):
    call = {"id": f"c{n}", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    history += [
        {"role": "user", "content": f"Read file {n}."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"line of file {n}\n" * 2_000},
    ]
done = holdfast.prune_old_tool_outputs(history, counter="floor4")
cleared = [m for m in history if m["content"] == "[Old tool result content cleared]"]
print(f"{len(cleared)} outputs cleared, {done.reclaimed:,} tokens reclaimed")
print("the same list:", done.messages is history)
