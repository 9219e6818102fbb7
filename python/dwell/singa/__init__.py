"""SINGA's names over dwell: the time profiling of its devices.

    from dwell.singa import device
"""
from . import device

__all__ = ["device"]
