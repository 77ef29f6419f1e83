#!/usr/bin/env python3
"""check_replay.py FILE [COUNTERS]: is a replay whole? Times never go back, no warp runs while a
barrier holds it, and every warp that came is released at one moment. COUNTERS is the same launch as
`lockstep profile --json` prints it, of a replay of all its blocks: accesses, sectors and passes must
add up to the same. Prints what is wrong and ends with status 1, or prints "fine".
"""
import json
import sys


def wrong_order(launch):
    held, ended, last = {}, set(), 0
    for event in launch["events"]:
        warp = (event["block"], event["warp"])
        if event["time"] < last:
            return "time goes back at %s" % event
        last = event["time"]
        if warp in ended:
            return "an event after the end of its warp: %s" % event
        if warp in held and event["kind"] != "release":
            return "it runs while a barrier holds it: %s" % event
        if event["kind"] == "release" and held.pop(warp, None) is None:
            return "released without having come: %s" % event
        if event["kind"] == "barrier":
            held[warp] = event
        if event["kind"] == "end":
            ended.add(warp)
    if not launch["dropped"] and held:
        return "held at the end: %s" % sorted(held)
    return None


def releases_apart(launch):
    """Warps of a block that are released one after the other, with nobody held in between."""
    came, times = {}, {}
    for event in launch["events"]:
        block = event["block"]
        if event["kind"] == "barrier":
            came[block] = came.get(block, 0) + 1
        elif event["kind"] == "release":
            came[block] -= 1
            times.setdefault(block, set()).add(event["time"])
            if came[block] == 0:
                if len(times.pop(block)) > 1:
                    return "block %d is released at several times" % block
    return None


def lanes_of(event):
    return [lane for lane in range(32) if event["lanes"] >> lane & 1]


def wrong_lanes(launch):
    for event in launch["events"]:
        if event["lanes"] & ~event["active"] and event["kind"] in ("run", "load", "store"):
            return "lanes that are not active: %s" % event
        if "addresses" in event and len(event["addresses"]) != len(lanes_of(event)):
            return "addresses and lanes differ: %s" % event
        if "space" in event and not ("addresses" in event or "first" in event):
            return "no addresses: %s" % event
    return None


def sums(launch):
    total = {}
    for event in launch["events"]:
        for key in ("sectors", "passes"):
            if event.get("space") in ("global", "shared"):
                name = "%s %s" % (event["space"], key)
                total[name] = total.get(name, 0) + event.get(key, 0)
    return total


def wrong_sums(launch, kernel):
    counted = {}
    for line in kernel["lines"]:
        for space, column, key in (("global", "sectors", "sectors"),
                                   ("shared", "wavefronts", "passes")):
            if space in line:
                name = "%s %s" % (space, key)
                counted[name] = counted.get(name, 0) + line[space][column]
    played = sums(launch)
    for name, value in counted.items():
        if played.get(name, 0) != value:
            return "%s: %s played, %s counted" % (name, played.get(name), value)
    return None


def main():
    with open(sys.argv[1]) as stream:
        replay = json.load(stream)
    assert replay["replay"] == 1 and replay["mhz"] > 100 and replay["launches"], replay.keys()
    problems = []
    for launch in replay["launches"]:
        assert launch["events"], "no events"
        problems += [wrong_order(launch), releases_apart(launch), wrong_lanes(launch)]
        files = {event["source"] for event in launch["events"] if event["line"]}
        assert files and all(replay["sources"][i]["text"] for i in files), files
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as stream:
            kernels = json.load(stream)["kernels"]
        problems += [wrong_sums(launch, next(k for k in kernels if k["launch"] == launch["launch"]))
                     for launch in replay["launches"]]
    problems = [each for each in problems if each]
    print("\n".join(problems) or "fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
