# SPDX-License-Identifier: Apache-2.0
"""What the studies of serving share: data/clusters/mixed.toml, and runs of the simulator."""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIXED = ROOT / "data" / "clusters" / "mixed.toml"


def awake(folder):
    """The same cluster with devices that never sleep."""
    lines = [line for line in MIXED.read_text().splitlines()
             if not re.match(r"(sleep|start)_", line)]
    path = pathlib.Path(folder) / "awake.toml"
    path.write_text("\n".join(lines).replace('"../', f'"{ROOT}/data/') + "\n")
    return path


def simulate(binary, cluster, requests, policy, seed, load=1.0):
    command = [binary, "simulate", "--cluster", cluster, "--requests", requests, "--policy", policy,
               "--seed", seed, "--speed", str(load), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    result = json.loads(done.stdout)
    if result["slo_attainment"] is None:
        sys.exit("the requests were promised nothing: there is nothing to keep")
    return result
