"""What `deid doctor` says of what reads notes beside the rules: models, peers, language models, and where they run.

Belongs here: whether each is there, and what is missing of it. Does not belong here: installing anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec

from deid_platform.bench.leaderboard.detectors import peer_of
from deid_platform.bench.leaderboard.plan import models_of
from deid_platform.detection import DetectorSpec
from deid_platform.detection.models.device import card_memory, card_name
from deid_platform.detection.models.folder import ModelFolder
from deid_platform.detection.named import own, parted
from deid_platform.detection.peers.claims import CLAIMS
from deid_platform.detection.peers.process import VARIANT, PeerProcess
from deid_platform.doctor.diagnosis import Diagnosis, look
from deid_platform.errors import DeidError
from deid_platform.llm.engines import EngineSpec
from deid_platform.llm.vllm_engine import EngineSettings
from deid_platform.llm.weights import GIB, WeightsFolder, fit, largest
from deid_platform.refresh.installation.site import Site

_CACHE = 8 * GIB
"""Memory for keys and values that a language model's size is told beside: 64,000 tokens of a model of 8 billion."""


NEEDS: Mapping[str, str] = {
    "presidio": "presidio-analyzer",
    "pydeid": "pyDeid",
    "philter": "philter-ucsf and NLTK's tagger",
    "deidentify": "deidentify and a model's file",
    "gliner": "gliner and a folder of weights",
    "gliner2": "gliner2 and a folder of weights",
    "privacy-filter": "transformers, torch and a folder of weights",
}
"""What the interpreter of each peer has to have."""


def of_models(site: Site) -> Iterator[Diagnosis]:
    """The device, the models of the detector and of the plan, the language model, and the peers."""
    yield look("device", lambda: _device(site))
    yield from _models(site)
    if (chat := EngineSpec.of(site.settings)) is not None:
        yield _language_model(chat.settings, card_memory())
    else:
        yield _no_engine(site)
    for name in site.settings.peers:
        yield look(f"peer {name}", partial(_peer, site, name))
    if others := [name for name in CLAIMS if name not in {_adapter(named) for named in site.settings.peers}]:
        needed = "; ".join(f"{name} needs an interpreter with {NEEDS[name]}" for name in others)
        yield Diagnosis("peers", True, f"not in [peers], so not compared (docs/peers.md): {needed}")


def _models(site: Site) -> Iterator[Diagnosis]:
    """The token classifiers of the detector, and those that the plan of the leaderboard names."""
    try:
        base = site.spec(None)
        base.chosen_models()
    except DeidError:  # told where the detector is looked at
        return
    for folder in _folders(base):
        yield look(f"model {folder.path.name}", partial(_runs, folder))
    for name in models_of(site.settings):
        model = (parted(name) or (name,))[0]
        yield look(f"plan: {model}", partial(_of_plan, site, model))


def _folders(spec: DetectorSpec) -> list[ModelFolder]:
    return [it.folder for it in spec.chosen_models().values() if it.folder is not None]


def _runs(folder: ModelFolder) -> str:
    folder.checked()
    labels = {label for label in folder.classes if label is not None}
    return f"{len(labels)} labels, classes of {folder.tags.scheme}, runs with {folder.runtime}"


def _of_plan(site: Site, name: str) -> str:
    return "; ".join(map(_runs, _folders(own(name, site.spec(None), site.model_path).spec)))


def _peer(site: Site, name: str) -> str:
    """Starts it, since only that tells whether all of it is there."""
    with PeerProcess(peer_of(site.settings, name)) as process:
        return process.version or "starts; says no version"


def _adapter(name: str) -> str:
    return name.removeprefix(VARIANT).partition(":")[0]


def _no_engine(site: Site) -> Diagnosis:
    extra = "" if find_spec("vllm") else "; the extra llm is not installed"
    endpoint = f"{site.settings.llm.model} by [llm]" if site.settings.llm else "none by [llm]"
    return Diagnosis("language model", True, f"{endpoint}, none by [vllm]{extra}")


def _device(site: Site) -> str:
    asked, card = site.settings.detection.device, card_name()
    used = site.device
    where = " of the cluster" if site.settings.detection.engine == "ray" else ""
    shown = f"{used}{where}{f' (asked for: {asked})' if used != asked else ''}; {card or 'no card'} here"
    if memory := card_memory():
        billions = largest(min(memory), fraction=EngineSettings.memory_fraction, cache=_CACHE)
        shown += f"; holds a language model of {billions:.0f} billion parameters in bfloat16"
    return shown


def _language_model(settings: EngineSettings, cards: Sequence[int]) -> Diagnosis:
    """Whether the model of `[vllm]` is there, and fits the cards: weights in bfloat16, and the cache beside them."""
    folder = WeightsFolder(settings.model)
    subject, asked = "language model", settings.tensor_parallel
    found = look(subject, lambda: _weights(folder, settings))
    if find_spec("vllm") is None:
        return Diagnosis(subject, False, f"{found.detail}; the extra llm is not installed")
    if not found.good:
        return found
    if not cards:
        return Diagnosis(subject, True, f"{found.detail}; no card: on the processor")
    if len(cards) < asked:
        return Diagnosis(subject, False, f"{found.detail}; vllm.tensor_parallel is {asked}, cards are {len(cards)}")
    it = fit(folder, min(cards), fraction=settings.memory_fraction, cards=asked, context=settings.context_length)
    room = f"the cache holds {it.tokens:,} tokens, {it.tokens / it.context:.1f} requests of the whole length"
    more = "" if it.fits else "; give it more cards, a shorter vllm.max_length or a smaller model"
    return Diagnosis(subject, it.fits, f"{found.detail}; {room}{more}")


def _weights(folder: WeightsFolder, settings: EngineSettings) -> str:
    folder.check()
    for _, path in settings.adapters:
        _ = WeightsFolder(path).rank
    per_token = folder.shape.token_bytes / 1024
    return f"{folder.path.name}, {folder.bytes / GIB:.1f} GiB, {per_token:,.0f} KiB of cache a token"
