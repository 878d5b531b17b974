"""From what `deid serve` was told to what the worker processes build.

Belongs here: policies, keys, detector, processes. Does not belong here: arguments of a command.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from deid_platform.deidentify.files import date_writing
from deid_platform.deidentify.release_note import ReleaseSpec, languages_accepted
from deid_platform.detection import DetectorSpec
from deid_platform.engine.engines import PRELOADED
from deid_platform.engine.workers import Staff
from deid_platform.errors import Code, DeidError
from deid_platform.notes import Topics
from deid_platform.redaction.policy import load_policy
from deid_platform.service.work import Answered, Asked, ServiceJob
from deid_platform.settings import keyring_for
from deid_platform.surrogates.date_order import NOTHING_SAID

RENEWED_AFTER = 250
"""Requests after which a worker process ends for another: each has remembered words and paragraphs of some 10 to 40 kB
by then, and written to pages that it shared; the first requests of a new one take a few hundredths longer."""


def job_of(
    *,
    policies: Sequence[str],
    topics: Topics | None = None,
    secret_file: Path | None = None,
    site: str | None = None,
    detector: str = "ensemble",
    models: tuple[str, ...] | None = None,
    recognizers: Path | None = None,
    keep: Path | None = None,
    date_order: str | None = None,
    languages: Collection[str] = (),
) -> ServiceJob:
    """The service's task, of what `deid_platform.load` takes; of several policies.

    Raises:
        DeidError: `policy-unknown`, `policy-invalid`, also for two policies of one name; `secret-missing` or
            `secret-weak` where one of them wants surrogates; `input-invalid` for a language or an order that is none.
    """
    rules = [load_policy(policy) for policy in policies]
    by_name = {policy.name: policy for policy in rules}
    if len(by_name) < len(rules):
        raise DeidError(Code.POLICY_INVALID, "two policies have one name")
    keyring = keyring_for(secret_file, site) if any(policy.uses_surrogates for policy in rules) else None
    accepted = languages_accepted(languages)
    writing = date_writing(date_order)
    releases = {
        name: ReleaseSpec(
            policy,
            topics,
            keyring if policy.uses_surrogates else None,
            writing=writing if policy.uses_surrogates else NOTHING_SAID,
            languages=accepted,
        )
        for name, policy in by_name.items()
    }
    for release in releases.values():
        if release.policy.hides_indirect:  # refused here, where a person reads it
            release.build()
    spec = DetectorSpec(name=detector, topics=topics, recognizers=recognizers, keep=keep, models=models)
    return ServiceJob(spec, releases)


def staff_of(job: ServiceJob, workers: int) -> Staff[Asked, Answered]:
    """The processes that read notes; none lives long enough for its memory to matter."""
    return Staff(job, workers, preload=PRELOADED, renewed_after=RENEWED_AFTER)
