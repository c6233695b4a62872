"""The templates for clusters, as far as one machine can try them."""

import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from ray.autoscaler._private.util import prepare_config, validate_config

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"
SMALL_STORE = "80000000"


@pytest.fixture
def launcher() -> dict:
    return yaml.safe_load((CONFIGS / "cluster.yaml").read_text())


def test_ray_takes_the_launchers_template(launcher: dict) -> None:
    validate_config(prepare_config(launcher))


@pytest.mark.soak
def test_the_launchers_setup_makes_a_machine_that_runs_zydaflow(launcher: dict, tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path / "zydaflow", ignore=shutil.ignore_patterns(*launcher["rsync_exclude"]))
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    for command in launcher["setup_commands"]:
        subprocess.run(["bash", "-ec", command], check=True, env=environment, timeout=900)
    programs = tmp_path / "zydaflow-venv" / "bin"
    for program in ("zydaflow", "ray"):
        subprocess.run([programs / program, "--version"], check=True, env=environment, timeout=60)


def test_the_lock_file_pins_what_the_package_asks_for() -> None:
    lines = (CONFIGS / "requirements.lock").read_text().splitlines()
    pairs = [line.split("==") for line in lines if "==" in line]
    pinned = {canonicalize_name(name): Version(number) for name, number in pairs}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for text in [*project["dependencies"], *extras["cluster"], *extras["langid"], *extras["s3"]]:
        requirement = Requirement(text)
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier, text


def test_every_pod_of_the_rayjob_has_the_volume_and_shared_memory() -> None:
    cluster = yaml.safe_load((CONFIGS / "rayjob.yaml").read_text())["spec"]["rayClusterSpec"]
    assert cluster["authOptions"] == {"mode": "token"}
    for group in [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]:
        pod = group["template"]["spec"]
        (container,) = pod["containers"]
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        assert container["resources"]["limits"] == container["resources"]["requests"]
        assert group["rayStartParams"]["object-store-memory"] == SMALL_STORE


STAND_INS = {
    "scontrol": '[ "$1 $2" = "show hostnames" ] && echo "$3" | tr , "\\n"',
    "srun": 'printf "%s\\n" "$RAY_AUTH_MODE" "${#RAY_AUTH_TOKEN}" "$@"',
}


def test_slurm_starts_ray_everywhere_and_the_run_once(tmp_path: Path) -> None:
    for name, text in STAND_INS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "activate").touch()
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "VENV": str(tmp_path),
        "SLURM_JOB_NODELIST": "n7,n8",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_CPUS_ON_NODE": "16",
    }
    command = ["bash", CONFIGS / "slurm.sh", "my recipe.yaml", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    mode, length, *told = done.stdout.splitlines()
    assert (mode, length) == ("token", "64")
    ray, run = told[: told.index("--")], told[told.index("--") + 1 :]
    assert ray[:6] == ["ray", "symmetric-run", "--address", "n7:6379", "--min-nodes", "2"]
    assert run == ["zydaflow", "run", "my recipe.yaml", "--address", "auto", "--out", "out"]
