"""The vocabulary of the invented project: a service that follows parcels through depots."""

from __future__ import annotations

ROOT = "/home/dev/depot"

NOUNS = (
    "parcel",
    "route",
    "depot",
    "courier",
    "manifest",
    "label",
    "pickup",
    "pallet",
    "crate",
    "bill",
    "tariff",
    "scan",
    "handover",
    "hub",
    "refund",
    "locker",
    "slot",
    "vehicle",
    "container",
    "stop",
)
VERBS = (
    "assign",
    "merge",
    "split",
    "price",
    "reserve",
    "release",
    "confirm",
    "expire",
    "count",
    "rank",
    "group",
    "validate",
    "normalise",
    "archive",
    "forward",
    "reconcile",
    "weigh",
    "match",
    "schedule",
    "notify",
)
VERBED = {"split": "split", "notify": "notified"}
"""What adding `ed` or `d` would spell wrongly."""

FIELDS = (
    "weight_g",
    "due_at",
    "zone",
    "status",
    "attempts",
    "carrier",
    "priority",
    "volume_l",
    "tracking_code",
    "created_at",
    "fee_cents",
    "capacity",
)
AREAS = ("intake", "routing", "billing", "tracking", "api", "jobs", "labels", "returns")
PEOPLE = ("Noor", "Imke", "Tomasz", "Adaeze", "Yuki", "Rafael", "Hanne", "Bilal")
BRANCHES = ("main", "routing-limits", "returns-v2", "billing-rounding", "label-cache")

REASONS = (
    "two depots may hold the same {noun} for a moment",
    "the carrier's clock runs a few seconds behind ours",
    "a {noun} without {field} comes in from the old importer",
    "the night job and the API write the same row",
    "rounding happens for each line and not for the sum",
    "the list is sorted by {field} only when it is short",
    "an empty {noun} counts as one that was never scanned",
    "the retry starts before the first attempt has ended",
)

REQUESTS = (
    "{path} has no upper limit on {noun}s per {other}. Please put one in ({n} for now, configurable"
    " later) and cover it with a test. Nothing else in this change, please.",
    "We saw {n} {noun}s without {field} last night. Find out how they get past {path}, tell me the"
    " cause first, then make it impossible.",
    "{path} has grown too long. Look for what could go into a module of its own, and tell me before"
    " you move anything.",
    "Support asks why {noun}s are {verbed} so slowly in depots with more than {n} of them. Look at"
    " {path} and tell me what you would change.",
    "{person} reviewed your last change and wants more tests for {path}, above all for {field}.",
    "Next: {noun}s should be {verbed} in batches of {n}. Start from {path}. Small commits, tell me"
    " when something looks like a bug.",
    "The {noun} page times out. I think it is the query in {path}, but I am not sure. What do you"
    " see?",
    "Go on with the {noun} work in {path}. Keep an eye on {field}: it may be null for rows before"
    " 2021.",
    "Before the release on Thursday I want the failing {area} tests understood, not skipped. Begin"
    " with {path}.",
    "Is {field} of a {noun} read anywhere but in {path}? If it is not, leave it as it is and go on"
    " with the tests.",
)
QUEUED = (
    "please leave docs/{area}.md alone for now, {person} is in it",
    "by the way, {n} is fine as a limit, I asked {person}",
    "no hurry, the tests matter more than the speed",
    "I am away for an hour, go on meanwhile",
)
OPENINGS = (
    "I start with {path} as it is.",
    "First the code as it is, before I say anything about {field}.",
    "{path} is where this happens, so that comes first.",
    "Before I touch {field}, the module from its beginning.",
)
"""What the agent says before it reads the module that it was asked about."""

THOUGHTS = (
    "The user wants this to stay small. `{name}` looks like the place, but there may be a second"
    " one in the same module. I want to see both before I choose.",
    "It could be that {reason}. I should see more of the code before I say so, since {path} may not"
    " be the only one that writes {field}.",
    "There are two ways: change {path}, or give the caller what it needs. The second would keep the"
    " interface as it is. I have to see the callers to know which one is smaller.",
    "If {field} may be missing, comparing it raises. I do not know yet whether a row can come in"
    " without it. The tests should tell.",
    "`{name}` takes {field} as it comes. That is right as long as whoever calls it has looked. I"
    " would rather not change what nobody asked about.",
    "Small steps: one function, its test, the tests of the module, then the next one. That way a"
    " failure says where it comes from.",
    "{n} looks like a number that somebody chose once. I leave it unless a test says otherwise.",
)
STILL_OPEN = (
    "The rest of what you asked for is still open.",
    "That is where it stands; tell me what comes first.",
    "I stop here, so that you can look at it before it grows.",
    "More is left to do than this; say if I should go on.",
    "You may want to look at it before I go on.",
)
"""What the agent ends a turn with: nothing that could be wrong."""

TASKS = (
    (
        "Find uses of {name}",
        "Find every line in {root} that names `{name}`, tests included. Change nothing. Report the"
        " lines with their files.",
    ),
    (
        "Review {path}",
        "Read {path} and its tests, `{name}` above all. Say which functions have no test. Do not"
        " edit anything.",
    ),
)
SUMMARY = (
    "This session is being continued from a previous conversation that ran out of context. The"
    " conversation is summarized below:\n"
    "Analysis:\n"
    "The user works on the parcel service depot and asks for one small change at a time.\n\n"
    "Summary:\n"
    "1. Primary request: {request}\n"
    "2. Files changed since the last commit: {files}\n"
    "3. The user wants small commits, no change that was not asked for, and to be told of bugs.\n"
    "4. Next step: go on with {path}."
)
