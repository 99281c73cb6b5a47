# SPDX-License-Identifier: Apache-2.0
"""Variants of data/clusters/mixed.toml for the studies of serving."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIXED = ROOT / "data" / "clusters" / "mixed.toml"


def awake(folder):
    """The same cluster with devices that never sleep."""
    lines = [line for line in MIXED.read_text().splitlines()
             if not re.match(r"(sleep|start)_", line)]
    path = pathlib.Path(folder) / "awake.toml"
    path.write_text("\n".join(lines).replace('"../', f'"{ROOT}/data/') + "\n")
    return path
