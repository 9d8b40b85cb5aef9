# SPDX-License-Identifier: Apache-2.0
"""What a GPU cannot pass, whoever measures it: its datasheet's peaks at its highest clock, and its memory's pins. A figure
above is a broken clock or a wrong result, and no lower figure is refused for being higher than others have seen."""
import os
import re

import ours

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11
    tomllib = None

CATALOGUE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "gpus.toml")
TOLERANCE = 1.005  # of the clock that was read, as in impossible_rate() of probes/gpu/gemm.h
# Figure, by its first letters -> unit and number format of the datasheet.
PRODUCTS = {"bf16": ("tensor", "bf16"), "fp8": ("tensor", "fp8_e4m3"), "fp32": ("cuda_cores", "fp32")}


def datasheet(run):
    """The catalogue's row of GPU 0 by its PCI device id; None where there is none."""
    device = ours.gpu_fact(run, "pci_device_id")
    if tomllib is None or device is None:
        return None
    with open(CATALOGUE, "rb") as file:
        rows = tomllib.load(file)["gpu"]
    return next((row for row in rows if device in row.get("pci_device_ids", [])), None)


def memory_limit(run, sheet):
    """Two transfers per clock on every pin; datasheets round this down. The datasheet's where the driver does not tell."""
    clock, bits = ours.gpu_fact(run, "memory_clock_hz"), ours.gpu_fact(run, "memory_bus_bits")
    pins = 2.0 * clock * bits / 8 if clock and bits else 0.0
    return max(pins, 1e9 * sheet["memory_bandwidth_gb_per_s"])


def limit_of(figure, run):
    """FLOP/s or B/s; None where no limit is known."""
    sheet = datasheet(run)
    # A slice of a GPU has only a share of both.
    if sheet is None or ours.gpu_fact(run, "multiprocessors") != sheet["multiprocessors"]:
        return None
    if figure.startswith("memory_"):
        return memory_limit(run, sheet)
    unit, number_format = PRODUCTS.get(re.match("[a-z0-9]*", figure).group(), ("", ""))
    peak = sheet.get(unit, {}).get(number_format)
    if not peak or "clock_mhz" not in peak or figure.endswith("_cv"):
        return None
    highest = ours.gpu_fact(run, "maximum_clock_hz") or 1e6 * sheet["maximum_clock_mhz"]
    return 1e12 * peak["tflops"] * max(1.0, highest / (1e6 * peak["clock_mhz"]))


def impossible(value, limit):
    return value is not None and limit is not None and value > TOLERANCE * limit
