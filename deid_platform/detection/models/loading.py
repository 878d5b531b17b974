"""Models that a run works with: loaded here, handed out, counted, and freed at the end.

Belongs here: token classifiers beside the chat models of `llm/engines.py`, and the memory of a card. Does not belong
here: running any of them, what a training starts from (`training/starting.py`), or when a run ends
(`resources/gpu.py`).
"""

from __future__ import annotations

import sys

from deid_platform.detection.models.device import PROCESSOR
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.models.network_server import Served
from deid_platform.detection.models.token_classifier import TokenClassifier
from deid_platform.llm.engines import Engines


class Models(Engines):
    """Token classifiers and chat models, on a card or the processor, and the seconds in which they ran.

    A chat model takes most of a card, so it is loaded once and stays. A token classifier is loaded for whoever asks
    and goes with them: a leaderboard of many would not fit a card together.
    """

    def __reduce__(self) -> tuple[type[Models], tuple[()]]:
        # Not of the class that Dagster's resource makes of it: a worker would load Dagster.
        return Models, ()

    def token_classifier(
        self, folder: ModelFolder, *, professions: bool = True, device: str = PROCESSOR, served: Served | None = None
    ) -> TokenClassifier:
        """A token classifier whose seconds are counted here.

        Args:
            folder: Of the model.
            professions: Whether occupations are searched for too.
            device: Where its network runs, one of `device.DEVICES`.
            served: The process that runs it for others too; None for this one.

        Raises:
            DeidError: What `TokenClassifier` raises.
        """
        return TokenClassifier(folder, professions=professions, device=device, served=served, seconds=self.seconds)

    def release(self) -> None:
        """Ends the chat models, and gives the memory of a card back that torch holds for later networks."""
        super().release()
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.empty_cache()
