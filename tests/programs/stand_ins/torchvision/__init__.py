"""In place of torchvision, of which there is no build for the PyTorch of these tests: data sets of random pictures, which cost what
decoded ones do (an array of bytes, a picture of Pillow, a tensor), and the transformations that the programs ask for."""
from . import datasets, transforms, utils  # noqa: F401
