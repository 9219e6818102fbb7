"""The files of tests/data as tests read them: the tree has them compressed.

usage: unpacked.py FOLDER FILE...     the build does this, into tests/data of the build folder

NAME.columns.xz becomes NAME.json.gz (columns.py), and any other NAME.xz becomes NAME, in FOLDER/PLACE where PLACE is the folder of the
file below tests/data.
"""
import lzma
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools")]
import columns  # noqa: E402
import need_build  # noqa: E402


def folder(dwell):
    """Where the unpacked files are, for this command in the folder where it was built."""
    path = os.path.join(os.path.dirname(os.path.abspath(dwell)), "tests/data")
    need_build.need(os.path.dirname(os.path.abspath(dwell)), "tests/data/unpacked")
    return path


def unpack(packed, to):
    place = os.path.join(to, os.path.relpath(packed, HERE))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if packed.endswith(".columns.xz"):
        columns.unpack_file(packed, place.removesuffix(".columns.xz") + ".json.gz")
        return
    with lzma.open(packed) as file, open(place.removesuffix(".xz"), "wb") as plain:
        shutil.copyfileobj(file, plain)


if __name__ == "__main__":
    for each in sys.argv[2:]:
        unpack(os.path.abspath(each), sys.argv[1])
    with open(os.path.join(sys.argv[1], "unpacked"), "w", encoding="utf-8") as stamp:
        stamp.write("\n".join(sys.argv[2:]) + "\n")
