"""What is most important stays: messages ranked by a score, the best of what does not fit condensed by a model."""

from holdfast.compressors.rank.strategy import Hierarchical
from holdfast.text.scoring import MOFA, SELECTIVE, Weights

__all__ = ["MOFA", "SELECTIVE", "Hierarchical", "Weights"]
