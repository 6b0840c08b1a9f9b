"""MoFA: one strategy after another until the conversation fits, counted and told in figures."""

import holdfast

talk = [
    {"role": ("user", "assistant")[n % 2], "content": f"Point {n} of the plan. " * 20}
    for n in range(41)
]
result = holdfast.compress(talk, 1_500, profile="mofa_hybrid")
print(result.strategy_name, [step.name for step in result.steps if step.applied])
print(f"{result.metrics.tokens_before} -> {result.metrics.tokens_after} tokens")
print(f"{len(result.messages)} messages, {result.metrics.token_reduction_percent:.0f} % saved")
