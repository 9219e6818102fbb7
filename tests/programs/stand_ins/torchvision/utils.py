"""Pictures are not written: the programs are looked at for their time."""


def save_image(*_, **__):
    pass
