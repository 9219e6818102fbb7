"""Labels of public traces, and what a sentence about one is worth. README.md says how a sentence is judged."""

import hashlib
import json
import lzma
import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "../data"))
import unpacked  # noqa: E402

RIGHT, SILENT, PLACE, WRONG, NOTHING, OPEN, FAILED = OUTCOMES = (
    "right", "rightly silent", "place or kind only", "wrong", "nothing said", "not judged", "failed")
BY_PERSON = (RIGHT, PLACE, WRONG)
EMPTY = "no statement"
KEYS = {"name", "source", "path", "kept", "content", "sha256", "shows", "right", "place", "must_not", "corrected"}


def kept_path(dwell, label):
    """Where the build of this command has unpacked a trace that the project has."""
    return os.path.join(unpacked.folder(dwell), os.path.relpath(label["kept"], "tests/data"))


def read(name):
    path = os.path.join(FOLDER, name)
    with lzma.open(path, "rt", encoding="utf-8") if name.endswith(".xz") else open(path, encoding="utf-8") as file:
        return json.load(file)


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def stated(verdict, kinds):
    """The kinds that a verdict states: those of its rule, or else those of its words."""
    if verdict["rule"] in kinds["rules"]:
        return set(kinds["rules"][verdict["rule"]])
    return {kind for words, kind in kinds["words"] if re.search(words, verdict["statement"], re.I)}


def share_of(verdict):
    """The share that a reader takes from the sentence: of several the first, "idle for 43%, for 35% because ..."."""
    said = re.search(r"([\d.]+)%", verdict["statement"])
    return float(said[1]) / 100 if said and verdict.get("share") is not None else verdict.get("share")


def has_place(label, sentence):
    return any(word.lower() in sentence.lower() for word in label.get("place", [])) or "place" not in label


def has_share(label, share):
    return share is None or "share" not in label or any(low <= share <= high for low, high in label["share"])


def is_forbidden(label, said, sentence):
    """Whether an entry of must_not, a kind or a statement with a place, was said."""
    if isinstance(label, str):
        return label in said
    return label["kind"] in said and has_place(label, sentence)


def has_false_share(label, said, share):
    """Whether a kind that the label knows was said with a share that none of its ranges has."""
    for kind in said:
        known = [one for one in label["right"] + label["place"] if one["kind"] == kind]
        if known and not any(has_share(one, share) for one in known):
            return True
    return False


def judge(label, verdict, kinds, judged=()):
    """(outcome, why) of a trace's first verdict, which is None or has rule, statement and share."""
    said = stated(verdict, kinds) if verdict else {EMPTY}
    if said == {EMPTY}:
        empty_is_right = any(one["kind"] == EMPTY for one in label["right"])
        return (SILENT, "") if empty_is_right else (NOTHING, "")
    sentence, share = verdict["statement"], share_of(verdict)
    forbidden = [one for one in label["must_not"] if is_forbidden(one, said, sentence)]
    if forbidden:
        return WRONG, "must not say: " + ", ".join(one if isinstance(one, str) else one["kind"] for one in forbidden)
    matching = [one for one in label["right"] if one["kind"] in said]
    if any(has_place(one, sentence) and has_share(one, share) for one in matching):
        return RIGHT, ", ".join(sorted(said))
    if has_false_share(label, said, share):
        return WRONG, "false share"
    second = [one for one in label["place"] if one["kind"] in said and has_place(one, sentence) and has_share(one, share)]
    if second:
        return PLACE, "true, and not what to say first: " + second[0]["kind"] if not matching else "without its place"
    if matching:
        return PLACE, "without its place"
    for entry in judged:
        if entry["trace"] == label["name"] and entry["sentence"] == digest(sentence):
            return entry["verdict"], entry["reason"]
    return OPEN, "the label does not know: " + (", ".join(sorted(said)) or "this verdict")


def check_judged(entries, names):
    """What is wrong with the form of judged.json, as sentences."""
    return [f"no judgement: {entry}" for entry in entries
            if set(entry) != {"trace", "sentence", "verdict", "reason"} or entry["trace"] not in names
            or entry["verdict"] not in BY_PERSON or not re.fullmatch("[0-9a-f]{16}", entry["sentence"]) or not entry["reason"]]


def check_statement(one, kinds):
    faults = []
    if one.get("kind") not in kinds or set(one) - {"kind", "place", "share"}:
        faults.append(f"no statement: {one}")
    for low, high in one.get("share", []):
        if not 0 <= low < high <= 1.1:
            faults.append(f"no range: {low} to {high}")
    if not all(isinstance(word, str) and word for word in one.get("place", ["x"])):
        faults.append(f"no words: {one['place']}")
    return faults


def check(data, kinds):
    """What is wrong with the form of labels, as sentences."""
    faults, names = [], set()
    for label in data["traces"]:
        found = [f"unknown keys {sorted(set(label) - KEYS)}"] if set(label) - KEYS else []
        found += [f"{key} is missing" for key in sorted(KEYS - {"kept", "content", "corrected"}) if key not in label]
        if not found:
            found += [f"no source {label['source']}"] if label["source"] not in data["sources"] else []
            found += [] if re.fullmatch("[0-9a-f]{64}", label["sha256"]) else ["no SHA-256"]
            found += [] if label["right"] and label["shows"] else ["nothing is right"]
            for one in label["right"] + label["place"]:
                found += check_statement(one, kinds["kinds"])
            for one in label["must_not"]:
                found += check_statement({"kind": one} if isinstance(one, str) else one, kinds["kinds"])
            both = {one for one in label["must_not"] if isinstance(one, str)} & {one["kind"] for one in label["right"]}
            found += [f"right and forbidden: {sorted(both)}"] if both else []
        if label.get("name") in names:
            found.append("a name twice")
        names.add(label.get("name"))
        faults += [f"{label.get('name')}: {fault}" for fault in found]
    return faults
