"""llm4s: four steps, from outputs by size to one digest that names what is exact, then a trim."""

import holdfast

talk = [{"role": "system", "content": "You help with orders."}]
for n in range(40):
    talk += [
        {"role": "user", "content": f"Please look at order ORD-{5_000 + n} again. " * 4},
        {"role": "assistant", "content": "It was looked at, and all is as it should be. " * 4},
    ]
result = holdfast.compress(talk, 1_500, profile="four_step")
for step in result.steps:
    print(f"{step.name}: {step.before} -> {step.after} tokens" if step.applied else step.name)
digest = result.messages[1]["content"]
print(digest.splitlines()[0], "ORD-5000" in digest, result.budget_met)
