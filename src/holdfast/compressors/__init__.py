"""What can go? One strategy a file, listed in the order in which a conversation meets them."""

from __future__ import annotations

from holdfast.kernel.registry import Registry

COMPRESSORS = Registry(
    noun="strategy",
    group="compressors",
    table={
        "prune": "holdfast.compressors.prune:Prune",
        "tunacode": "holdfast.compressors.prune:tunacode",
        "shrink": "holdfast.compressors.shrink:Shrink",
        "llm4s": "holdfast.compressors.size_classes:SizeClasses",
        "sliding_window": "holdfast.compressors.window:SlidingWindow",
        "hybrid": "holdfast.compressors.pipeline:Pipeline",
        "stepwise": "holdfast.compressors.stepwise:Stepwise",
        "trim": "holdfast.compressors.trim:Trim",
    },
    aliases={"window": "sliding_window", "pipeline": "hybrid"},
)
