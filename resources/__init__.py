"""Dagster resources: the installation, dbt and the card that runs models, which assets ask for by name.

Belongs here: turning deid.toml into an object of the domain. Does not belong here: any step of the job.
Resources hold the path of deid.toml and nothing else, since Dagster shows their configuration to whoever
opens the UI.
"""

from resources.dbt import build_folder, dbt_project, dbt_resource, mart_relations
from resources.gpu import Gpu, gpu_resource
from resources.site import SiteResource

__all__ = ["Gpu", "SiteResource", "build_folder", "dbt_project", "dbt_resource", "gpu_resource", "mart_relations"]
