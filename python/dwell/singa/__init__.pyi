from . import device as device

__all__ = ["device"]
