#!/usr/bin/env python3
"""The names of CUDA's calls, by which dwell decides what it records of them, against those of several CUPTI.

usage: cupti_names.py [--all] FOLDER...      last line: N passed, N failed

A folder has one version's libcupti and its headers, somewhere below it. The library says its names by
cuptiGetCallbackName(), without a GPU; since 13.2 it does not without a driver, and then its header cupti_*_cbid.h has them.
Where both are there, they must be equal. Words of a name say what a call does, for instance "Launch"; dwell's own lists in
probes/cuda/calls.c have exact names. A later version's new call whose words say that it launches, copies or waits fails here
until it is listed. With --all, the folders are of all versions, and each listed name must be in one of them.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

SOURCES = os.path.dirname(os.path.abspath(__file__))
CALLS = os.path.join(SOURCES, "../../probes/cuda/calls.c")
DOMAINS = {1: ("DRIVER", "driver"), 2: ("RUNTIME", "runtime")}
# What gives a device work or waits for it says so, except calls for nodes of graphs and for systems of 32 bits.
WORKS = re.compile(r"Launch|GraphUpload|Memcpy|Memset|Synchronize|MemPrefetch|MemDiscard|Decompress")
NO_WORK = re.compile(r"^cu64|Graph\w*Node")
ASKS = re.compile(r"Get|Peek|Occupancy|IsCapturing|ThreadExchange|CallConfiguration|SetDevice|Set(Current|Flags|CacheConfig|SharedMemConfig)|"
                  r"(Push|Pop)Current|^__cuda(Unr|R)egister|PrimaryCtxSetFlags")
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def header_names(folder):
    """(domain, number) -> name, by the headers."""
    found = {}
    for domain, (word, file) in DOMAINS.items():
        for path in glob.glob(f"{folder}/**/cupti_{file}_cbid.h", recursive=True)[:1]:
            with open(path, encoding="utf-8") as header:
                found.update({(domain, int(number)): name for name, number in re.findall(
                    rf"CUPTI_{word}_TRACE_CBID_(\w+)\s*=\s*(\d+)\s*,", header.read()) if name not in ("INVALID", "SIZE")})
    return found


def classes_of(program, names):
    """name -> what dwell takes it for"""
    done = subprocess.run([program, "-"], input="\n".join(names) + "\n", capture_output=True, text=True, check=True)
    return {line.split()[3]: line.split()[0] for line in done.stdout.splitlines()}


def plain(name):
    return re.sub(r"_v\d$", "", re.sub(r"_pt[sd][sz]$", "", re.sub(r"_v\d{4,5}$", "", name)))


def test_version(program, folder):
    """All names of one version, with their classes."""
    library = sorted(glob.glob(f"{folder}/**/libcupti.so*", recursive=True))[0]
    headers = header_names(folder)
    done = subprocess.run([program, library], capture_output=True, text=True, check=False)
    check(f"{folder}: the library is asked for its names: {done.returncode} {done.stderr}", done.returncode in (0, 77, -11))
    said = {(int(domain), int(number)): name for _, domain, number, name in (line.split() for line in done.stdout.splitlines())}
    names = {key: name for key, name in headers.items() if key[1]}
    check(f"{folder}: its headers have {len(names)} names", len(names) > 1000)
    if done.returncode == 0:
        check(f"{folder}: the library has the names of its headers: {list(set(said.items()) ^ set(names.items()))[:5]}", said == names)
    else:
        with open(library, "rb") as file:
            content = file.read()
        check(f"{folder}: the library has its headers' names as texts", all(name.encode() + b"\0" in content for name in names.values()))
    classes = classes_of(program, sorted(set(names.values())))
    for name, kind in classes.items():
        works = WORKS.search(name) and not NO_WORK.search(name)
        check(f"{folder}: {name} {kind}", kind in ("submits", "waits") if works else kind in ("other", "asks") or "apture" in name)
        check(f"{folder}: {name} asks", kind != "asks" or ASKS.search(name))
    print(f"{os.path.basename(folder)}: {len(names)} names by {'the library and its headers' if said else 'its headers'}:",
          ", ".join(f"{list(classes.values()).count(kind)} {kind}" for kind in ("submits", "waits", "asks", "other")))
    return set(map(plain, names.values()))


def main(folders):
    program = os.path.abspath("cupti_names")
    done = subprocess.run(["cc", "-std=gnu11", "-D_GNU_SOURCE", "-I" + os.path.join(SOURCES, "../../include"), "-o", program,
                           os.path.join(SOURCES, "cupti_names.c"), CALLS, "-ldl"], capture_output=True, text=True, check=False)
    check(f"the program is built: {done.stderr[:2000]}", done.returncode == 0)
    known = set().union(*(test_version(program, folder) for folder in folders))
    with open(CALLS, encoding="utf-8") as file:
        listed = re.findall(r"\b(?:__)?cu[a-zA-Z0-9]+(?= )", "".join(re.findall(r'"( ?(?:__)?cu[a-zA-Z0-9]+ .*)"', file.read())))
    check(f"each listed name is one of CUPTI's: {sorted(set(listed) - known)}", "--all" not in sys.argv or set(listed) <= known)
    check(f"no name is listed twice: {len(listed)}", len(listed) == len(set(listed)) > 200)


if __name__ == "__main__":
    places = [os.path.abspath(place) for place in sys.argv[1:] if place != "--all"]
    with tempfile.TemporaryDirectory(prefix="dwell-cupti-names-") as temporary:
        os.chdir(temporary)
        main(places)
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
