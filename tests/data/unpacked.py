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


def place_of(packed, to):
    place = os.path.join(to, os.path.relpath(os.path.abspath(packed), HERE))
    return place.removesuffix(".columns.xz") + ".json.gz" if place.endswith(".columns.xz") else place.removesuffix(".xz")


def unpack(packed, to):
    place = place_of(packed, to)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if packed.endswith(".columns.xz"):
        columns.unpack_file(packed, place)
        return
    with lzma.open(packed) as file, open(place, "wb") as plain:
        shutil.copyfileobj(file, plain)


def unpack_all(to, files):
    """What was unpacked before and is no longer in the tree goes: tests read all files of a folder."""
    stamp = os.path.join(to, "unpacked")
    before = open(stamp, encoding="utf-8").read().split("\n") if os.path.exists(stamp) else []
    for each in {place_of(file, to) for file in before if file} - {place_of(file, to) for file in files}:
        if os.path.exists(each):
            os.unlink(each)
    for each in files:
        unpack(each, to)
    with open(stamp, "w", encoding="utf-8") as file:
        file.write("\n".join(files) + "\n")


if __name__ == "__main__":
    unpack_all(sys.argv[1], sys.argv[2:])
