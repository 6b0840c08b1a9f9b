"""A strategy under a name that its caller chose, for records that follow a published pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.compressors.describing import described
from holdfast.compressors.knobs import check_knobs
from holdfast.kernel.budget import Allowance
from holdfast.kernel.compressor import Compressor, Flow, Plan
from holdfast.kernel.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Named:
    """Does what the strategy does; results and logs call it by the name."""

    strategy: Compressor
    name: str

    def __post_init__(self) -> None:
        check_knobs(self)

    def describe(self) -> Mapping[str, object]:
        """The description of the strategy, and the name."""
        return {**described(self.strategy), "as": self.name}

    def plan(self, transcript: Transcript, allowance: Allowance) -> Plan | Flow:
        """The plan of the strategy."""
        return self.strategy.plan(transcript, allowance)
