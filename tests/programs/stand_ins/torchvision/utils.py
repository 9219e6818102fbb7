"""Pictures are not written: the programs are looked at for their time."""


def save_image(*_, **__):
    pass


def make_grid(tensor, *_, **__):
    return tensor[0]
