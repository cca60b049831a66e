"""The image, Compose's file and Kubernetes' manifests: well formed, hardened, and of one piece with the program."""

import json
import re
import shlex
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest
import yaml
from prometheus_client import REGISTRY

from api.cli.main import LazyCommand
from graphrag.config.reference import known_variables
from graphrag.observability import metrics  # noqa: F401 - registers them
from tests.deploy.deployment import (
    KUBERNETES,
    commands,
    compose,
    kustomization,
    manifests,
    our_services,
    pods,
    variables,
)
from tests.processes import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.+)$", DOCKERFILE.replace("\\\n", " "), re.MULTILINE)


def test_the_image_is_built_as_the_field_does() -> None:
    """R9.7"""
    hadolint = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "")
    assert instructions("USER") == ["10001:10001"]
    assert "'http://127.0.0.1:8000/health'" in instructions("HEALTHCHECK")[0]


def test_the_image_has_all_sources_and_nothing_else() -> None:
    """R9.7 Also what is installed by it: each package that the project has."""
    copied = {source for line in instructions("COPY") if "--from" not in line for source in shlex.split(line)[:-1]}
    assert all((ROOT / source).exists() for source in copied)
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert ignored[1] == "*"
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    assert {path.parent.name for path in ROOT.glob("*/__init__.py")} <= copied


def test_compose_is_valid() -> None:
    """R9.7 By Compose's own schema; what it mounts is there."""
    schema = json.loads(files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text())
    jsonschema.validators.validator_for(schema)(schema).validate(compose())
    mounts = [mount for service in compose()["services"].values() for mount in service.get("volumes", [])]
    named = {mount.partition(":")[0] for mount in mounts}
    assert all((ROOT / name).exists() if name.startswith("./") else name in compose()["volumes"] for name in named)


def test_composes_services_are_hardened() -> None:
    """R4.8 No root file system that can be written, no capability, nothing to be gained; only the proxy is reached."""
    for name, service in compose()["services"].items():
        assert service["read_only"] is True, name
        assert re.fullmatch(r"\d+[mg]", service["mem_limit"]), name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert name == "postgres" or "cap_add" not in service
        assert re.search(r":.*\d|^causeway$", service["image"]), f"{name}: an image without a version"
    assert {name for name, service in compose()["services"].items() if "ports" in service} == {"proxy", "grafana"}
    assert compose()["services"]["postgres"]["networks"] == ["inside"]


def test_compose_asks_for_its_secrets_and_its_example_names_them() -> None:
    """R4.8 None has a value in a file of ours."""
    text = (ROOT / "compose.yaml").read_text("utf-8")
    asked = set(re.findall(r"\$\{([A-Z_]+)", text))
    example = dict(re.findall(r"^([A-Z_]+)=(.*)$", (ROOT / "deploy" / "compose.env").read_text("utf-8"), re.MULTILINE))
    assert set(example) == asked
    required = set(re.findall(r"\$\{([A-Z_]+):\?\}", text))
    assert {name for name in asked if "PASSWORD" in name} <= required
    assert not any(example[name] for name in required)


def test_services_wait_for_what_they_need() -> None:
    """R11.3 The database is healthy, then migrated, then served; the proxy comes last."""
    waits = {name: service.get("depends_on", {}) for name, service in compose()["services"].items()}
    assert waits["migrate"] == {"postgres": {"condition": "service_healthy"}}
    assert waits["api"] == waits["worker"] == {"migrate": {"condition": "service_completed_successfully"}}
    assert waits["proxy"] == {"api": {"condition": "service_healthy"}}
    assert our_services()["worker"]["healthcheck"]["test"] != our_services()["migrate"]["healthcheck"]


@pytest.mark.parametrize("name", sorted(manifests()))
def test_manifests_are_valid(name: str) -> None:
    """R9.7 By Kubernetes' own schema; strictly: no field that it does not know."""
    if manifests()[name]["kind"] == "PodMonitor":  # the Prometheus Operator's
        assert _monitored_ports(name.partition("/")[2]) <= _ports(name.replace("PodMonitor", "Deployment"))
    else:
        kubernetes_validate.validate(manifests()[name], kubernetes_validate.latest_version(), strict=True)


def _monitored_ports(name: str) -> set[str]:
    spec = manifests()[f"PodMonitor/{name}"]["spec"]
    assert set(spec) == {"selector", "podMetricsEndpoints"}
    assert {endpoint["path"] for endpoint in spec["podMetricsEndpoints"]} == {"/metrics"}
    return {endpoint["port"] for endpoint in spec["podMetricsEndpoints"]}


def _ports(name: str) -> set[str]:
    return {port["name"] for port in pods()[name]["containers"][0]["ports"]}


def test_workers_scale_by_a_metric_that_there_is() -> None:
    """R11 The length of the queue, which each process reports."""
    (metric,) = manifests()["HorizontalPodAutoscaler/worker"]["spec"]["metrics"]
    assert metric["external"]["metric"]["name"] in {found.name for found in REGISTRY.collect()}


def test_the_workflow_that_publishes_the_image_is_valid() -> None:
    """R9.7 By GitHub's own schema."""
    vendored = files("check_jsonschema").joinpath("builtin_schemas", "vendor", "github-workflows.json")
    schema = json.loads(vendored.read_text("utf-8"))
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "image.yml").read_text("utf-8"))
    workflow["on"] = workflow.pop(True)  # which `on` is in YAML 1.1
    jsonschema.validators.validator_for(schema)(schema).validate(workflow)


def test_the_kustomization_knows_every_manifest() -> None:
    """R9.7 Those that depend on the cluster are named, to be turned on."""
    text = (KUBERNETES / "kustomization.yaml").read_text("utf-8")
    assert set(kustomization()["resources"]) == {"migrate.yaml", "api.yaml", "worker.yaml", "network.yaml"}
    assert all(path.name in text for path in KUBERNETES.glob("*.yaml") if path.name != "kustomization.yaml")


@pytest.mark.parametrize("name", sorted(pods()))
def test_pods_may_do_nothing_that_they_need_not(name: str) -> None:
    """R4.8 Pod security standard «restricted», and a read-only root file system with two places to write."""
    pod = pods()[name]
    container = pod["containers"][0]
    assert (
        pod["securityContext"] | {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        == (pod["securityContext"])
    )
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert f"ServiceAccount/{pod['serviceAccountName']}" in manifests()
    assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
    assert {"memory"} <= set(container["resources"]["limits"])


def test_what_selects_pods_finds_them() -> None:
    """R9.7"""
    labels = [found["spec"]["template"]["metadata"]["labels"] for found in manifests().values() if _has_pods(found)]
    monitors = ("PodMonitor/api", "PodMonitor/worker")
    for name in ("Service/api", "PodDisruptionBudget/api", "NetworkPolicy/api", "NetworkPolicy/worker", *monitors):
        spec = manifests()[name]["spec"]
        selector = spec.get("podSelector") or spec["selector"]
        assert selector.get("matchLabels", selector) in labels
    probes = pods()["Deployment/api"]["containers"][0]
    asked = {probe: probes[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "liveness", "readiness")}
    assert asked == {"startup": "/health", "liveness": "/health", "readiness": "/ready"}


def _has_pods(found: dict[str, object]) -> bool:
    return found["kind"] in ("Deployment", "Job")


@pytest.mark.parametrize("where", sorted(commands()))
def test_commands_are_the_programs(where: str) -> None:
    """R9.7 Options that it does not have end it."""
    name, *arguments = commands()[where]
    LazyCommand(name).make_context(name, arguments)


def test_variables_are_the_services() -> None:
    """R4.10"""
    assert variables() <= known_variables()


def test_prometheus_asks_each_process_of_compose() -> None:
    """R11.2"""
    configured = yaml.safe_load((ROOT / "deploy" / "prometheus" / "compose.yml").read_text("utf-8"))
    asked = {(find["names"][0], find["port"]) for job in configured["scrape_configs"] for find in job["dns_sd_configs"]}
    assert asked == {("api", 8000), ("worker", 8001)}
    assert {name for name, _ in asked} <= set(compose()["services"])
