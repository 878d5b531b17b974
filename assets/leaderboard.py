"""Scores of any detector on any surrogate corpus, one partition a corpus in a locale and a detector."""

from __future__ import annotations

import dagster as dg

from assets import shown
from assets.bench import GIVEN
from assets.corpora import NOTES
from assets.layer import PRIVACY, Counts, layer_asset
from deid_platform.bench.leaderboard.corpora import scored_keys
from deid_platform.bench.leaderboard.detectors import Detectors
from deid_platform.bench.leaderboard.leaderboard import Leaderboard, notes_to_score
from deid_platform.bench.leaderboard.plan import CHAT, OURS, models_of, plan_of
from deid_platform.errors import Code, DeidError
from deid_platform.evaluation.scores.scores import SMALLEST_SHOWN, suppress
from deid_platform.evaluation.sources import Source
from deid_platform.llm.prompts import prompt_names
from deid_platform.refresh.datasets import tables
from deid_platform.settings import Settings
from resources import Gpu, SiteResource

KEY = tables.DETECTOR_SCORES
_RECALL = {"topics": "recall_with_topics", "text": "recall_text"}


def detector_scores(settings: Settings) -> dg.AssetsDefinition:
    """The asset of an installation: its own detectors, its plan's models, and the peers and prompts of deid.toml."""
    corpora = {key.partition: key for key in scored_keys(settings)}
    chats = [f"{CHAT}{name}" for name in prompt_names()] if settings.llm or settings.vllm else []

    @layer_asset(
        KEY,
        owner=PRIVACY,
        kinds={"postgres"},
        pool="gpu",
        # Its partitions are others: a corpus in a locale is one dimension of them.
        deps=[dg.AssetDep(NOTES.split("/"), partition_mapping=dg.AllPartitionMapping())],
        partitions=dg.MultiPartitionsDefinition(
            {
                "corpus": dg.StaticPartitionsDefinition(list(corpora)),
                "detector": dg.StaticPartitionsDefinition([*OURS, *models_of(settings), *settings.peers, *chats]),
            }
        ),
        description=(
            "How well a detector does on a surrogate corpus, or on a site's own gold as it is, as many notes of it as "
            "`bench.plan` says; into quality.lab_score. Peers read English alone, prompts to a chat model their own "
            "language: of other corpora nothing is measured. The next run of a delivery, or `deid bench`, brings "
            "them to the marts."
        ),
    )
    def scores(context: dg.AssetExecutionContext, site: SiteResource, gpu: dg.ResourceParam[Gpu]) -> Counts:
        assert isinstance(context.partition_key, dg.MultiPartitionKey)  # noqa: S101 - by the partitions' definition
        chosen = context.partition_key.keys_by_dimension
        key, name = corpora[chosen["corpus"]], chosen["detector"]
        it = site.using(gpu)
        given = notes_to_score(it, key, plan_of(it.settings).notes_of(key.corpus))
        with Detectors(it, [name]) as detectors:
            for detector in detectors:
                if not detector.reads(given.language):
                    return shown.counts(0, left_out=f"{name} does not read {given.language}")
                found = Leaderboard(it).measured(detector, given)
                break
            else:
                raise DeidError(Code.PEER_MISSING, detectors.missing[name])
        figures = [(it.given, score) for it in found.scored for score in it.scores]
        return shown.counts(
            len(given.notes),
            measured_anew=found.anew,
            detector_digest=detector.digest,
            measured_on=Source.of(
                given.word, "text" if given.topics is None else "topics", notes=suppress(len(given.notes))
            ).both,
            **{
                _RECALL[inputs]: shown.share(it.value)
                for inputs, it in figures
                if (it.family, it.subject, it.measure) == ("words", "ALL", "recall")
            },
            figures=shown.table(
                ("detector was given", "family", "of", "measure", "value", "95% from", "to"),
                [
                    (GIVEN[inputs], it.family, it.subject, it.measure, it.value, it.low, it.high)
                    for inputs, it in figures
                    if it.n is None or it.n >= SMALLEST_SHOWN
                ],
            ),
        )

    return scores
