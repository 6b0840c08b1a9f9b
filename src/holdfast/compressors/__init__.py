"""The strategies, one file each, in the order in which a pipeline usually runs them."""

from holdfast.kernel.registry import Registry

COMPRESSORS = Registry(
    noun="strategy",
    group="compressors",
    table="""
        select holdfast.compressors.select:Select
        prune holdfast.compressors.prune:Prune
        tunacode holdfast.designs:tunacode
        shrink holdfast.compressors.shrink:Shrink
        llm4s holdfast.designs.llm4s:SizeClasses
        digest holdfast.compressors.digest:Digest
        llm4s_history holdfast.designs.llm4s:llm4s_history
        rules holdfast.compressors.rules:Rules
        semantic holdfast.compressors.dedupe:Semantic
        hierarchical holdfast.compressors.rank:Hierarchical
        summarizing holdfast.compressors.summarize:Summarize
        tunacode_history holdfast.designs:tunacode_history
        squeeze holdfast.compressors.squeeze:Squeeze
        sliding_window holdfast.compressors.window:SlidingWindow
        hybrid holdfast.compressors.pipeline:Pipeline
        trim holdfast.compressors.trim:Trim
    """,
    aliases="""
        window sliding_window
        pipeline hybrid
        summarize summarizing
    """,
)
