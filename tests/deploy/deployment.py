"""What the files of a deployment say: Compose's services, Kubernetes' objects, their commands and variables."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.processes import ROOT

Object = dict[str, Any]
KUBERNETES = ROOT / "deploy" / "kubernetes"


def compose() -> Object:
    found: Object = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return found


def kustomization() -> Object:
    found: Object = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text("utf-8"))
    return found


def manifests() -> dict[str, Object]:
    """Each by its kind and name: «Deployment/api»."""
    paths = [path for path in sorted(KUBERNETES.glob("*.yaml")) if path.name != "kustomization.yaml"]
    return {f"{found['kind']}/{found['metadata']['name']}": found for path in paths for found in _read(path)}


def _read(path: Path) -> Iterator[Object]:
    yield from yaml.safe_load_all(path.read_text("utf-8"))


def our_services() -> dict[str, Object]:
    return {name: service for name, service in compose()["services"].items() if service["image"] == "causeway"}


def pods() -> dict[str, Object]:
    """The pod's specification, by the name of what makes it."""
    return {
        name: found["spec"]["template"]["spec"]
        for name, found in manifests().items()
        if found["kind"] in ("Deployment", "Job")
    }


def commands() -> dict[str, list[str]]:
    """What `causeway` is told, by where."""
    of_compose = {f"compose {name}": service["command"] for name, service in our_services().items()}
    return of_compose | {f"kubernetes {name}": pod["containers"][0]["args"] for name, pod in pods().items()}


def variables() -> set[str]:
    """That the service is given."""
    of_compose = {name for service in our_services().values() for name in service["environment"]}
    literals = [literal for map_ in kustomization()["configMapGenerator"] for literal in map_["literals"]]
    return of_compose | {literal.partition("=")[0] for literal in literals}
