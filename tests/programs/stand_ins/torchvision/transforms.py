"""Transformations of pictures of Pillow and of tensors."""
import numpy
import torch


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class ToTensor:
    def __call__(self, picture):
        array = torch.from_numpy(numpy.array(picture, copy=True))
        array = array[:, :, None] if array.ndim == 2 else array
        return array.permute(2, 0, 1).contiguous().float().div(255)


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = (torch.tensor(values).view(-1, 1, 1) for values in (mean, std))

    def __call__(self, tensor):
        return tensor.sub(self.mean).div(self.std)


class Lambda:
    def __init__(self, function):
        self.function = function

    def __call__(self, picture):
        return self.function(picture)


class Resize:
    def __init__(self, size):
        self.size = size if isinstance(size, (tuple, list)) else (size, size)

    def __call__(self, picture):
        return picture.resize(self.size)


class CenterCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        side = min(self.size) if isinstance(self.size, (tuple, list)) else self.size
        left, top = (picture.width - side) // 2, (picture.height - side) // 2
        return picture.crop((left, top, left + side, top + side))


class Pad:
    def __init__(self, border):
        self.border = border

    def __call__(self, picture):
        side = self.border
        return picture.crop((-side, -side, picture.width + side, picture.height + side))


class RandomCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        left, top = (int(torch.randint(0, side - self.size + 1, ())) for side in (picture.width, picture.height))
        return picture.crop((left, top, left + self.size, top + self.size))


class RandomHorizontalFlip:
    def __call__(self, picture):
        return picture.transpose(0) if torch.rand(()) < .5 else picture
