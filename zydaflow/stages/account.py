"""Account: commit records → statistics, what the run was made of, and the pages that people read; and tidying up."""

import os
import platform
import re
import socket
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import orjson

from zydaflow.errors import InputError, RunError
from zydaflow.filters.alarms import rule_alarms
from zydaflow.provenance import card, made_of, report, statistics
from zydaflow.provenance.commits import Record, Store
from zydaflow.provenance.outcome_alarms import outcome_alarms
from zydaflow.provenance.run_file import FOLDERS, RECIPE, RUN, STATISTICS, read_run
from zydaflow.provenance.told_alarms import alarm_lines
from zydaflow.recipe import AlarmSpec, dump_recipe, fingerprint
from zydaflow.say import warn
from zydaflow.stages.aside import failing_of
from zydaflow.stages.plan import Plan
from zydaflow.stages.unit import Timing
from zydaflow.storage import TEMPORARY, files_below, remove, remove_empty_folders, secure

REPORT = "report/index.html"
UNREADABLE_SHARE = 0.05  # of a dataset's records, beyond which it is taken to be damaged rather than dirty
TOLD = 20  # documents that a warning names
UNREADABLE_LEAST = 100  # so many bad records say nothing about a dataset yet
# Files of ours, by their place below the output folder: anything else is someone else's, and stays.
_OURS = re.compile(
    r"(commits|work)/.+\.[0-9a-f]{12}\.(arrow|json)|(signals|quarantine)/.+\.[0-9a-f]{12}\.parquet"
    r"|evidence/(removed|clusters)\.parquet|corpus/tokenizer\.json"
    r"|corpus/[^/]+/(data-\d{5}-of-\d{5}\.arrow|state\.json|dataset_info\.json)"
)


def check_unreadable(store: Store, records: Iterable[Record]) -> None:
    """Raises InputError for a dataset in which too many records could not be read."""
    counts: dict[str, list[int]] = {}
    for record in records:
        if record.stage == "measure":
            count = counts.setdefault(record.facts["dataset"], [0, 0])
            count[0] += record.counts["unreadable"]
            count[1] += record.counts["read"]
    for dataset, (bad, read) in counts.items():
        if bad > max(UNREADABLE_LEAST, UNREADABLE_SHARE * read):
            raise InputError(
                f"dataset {dataset}: {bad:,} of {read:,} records cannot be read, more than {UNREADABLE_SHARE:.0%}; "
                f"{store.path('quarantine') / dataset} says where and why"
            )


def warn_unprocessed(store: Store, records: Iterable[Record]) -> None:
    """Tells of documents that were set aside because they could not be processed."""
    lines = [
        f"  {record.facts['dataset']}: {record.facts['file']} at {position:,}: {reason}"
        for record in records
        if record.stage == "measure"
        for position, reason in failing_of(record).items()
    ]
    if lines:
        more = [f"  … and {len(lines) - TOLD} more"] if len(lines) > TOLD else []
        warn(
            "\n".join(
                [
                    f"warning: {len(lines):,} documents cannot be processed and lie in {store.path('quarantine')}:",
                    *lines[:TOLD],
                    *more,
                ]
            )
        )


def begin(store: Store, plan: Plan) -> None:
    """Says what is being run, before the work; what an earlier recipe or a killed run left must not pass for it."""
    before = read_run(store.root)
    _write_run(store, plan, [], {}, finished=False)
    store.write(RECIPE, dump_recipe(plan.recipe).encode())
    remove([store.path("failures.json")])
    if before is None or before["fingerprint"] != plan.fingerprint:
        remove([store.path(STATISTICS)])
    _clear_temporary(store)


def _clear_temporary(store: Store) -> None:
    """Removes what workers that were killed left half-written."""
    for folder in map(store.path, FOLDERS):
        remove(folder / name for name in files_below(folder) if name.rpartition("/")[2].startswith(TEMPORARY))


def account(store: Store, plan: Plan, records: list[Record], timings: dict[str, Timing], finished: bool) -> None:
    """Writes statistics, report and card from the records that the recipe stands on, and `run.json` last.

    Raises RunError if a document has no outcome, or two, and before the end at an alarm if these are to stop the run.
    Of a finished run nothing is left that it does not stand on.
    """
    found = statistics.collect(records, [dataset.name for dataset in plan.recipe.datasets])
    statistics.check_sums(found, finished)
    found = {"name": plan.recipe.name, "finished": finished, **found, "alarms": _alarms(found, plan.recipe.alarms)}
    text = orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    artefacts = {
        "recipe": store.write(RECIPE, dump_recipe(plan.recipe).encode()),
        "statistics": store.write(STATISTICS, text),
    }
    artefacts["report"] = store.write(REPORT, report.render(found, plan.recipe).encode())
    artefacts["card"] = store.write("corpus/README.md", card.render(found, plan.recipe).encode())
    fp = fingerprint("account", [[record.stage, record.unit, record.fingerprint] for record in records])
    pages = store.commit(Record("account", "account", fp, artefacts))
    if finished:
        _sweep(store, [*records, pages])
        secure(store.path(record.name) for record in [*records, pages])
    _write_run(store, plan, [*records, pages], timings, finished)
    if plan.recipe.alarms.stop and not finished:
        _stop_at_alarms(store, found)


def _alarms(found: dict[str, Any], limits: AlarmSpec) -> list[dict[str, Any]]:
    by_rules = [{"dataset": name, **alarm} for name, of in found["datasets"].items() for alarm in rule_alarms(of)]
    return by_rules + outcome_alarms(found, limits)


def _stop_at_alarms(store: Store, found: dict[str, Any]) -> None:
    lines = [f"  {dataset}: {what}" for dataset, what in alarm_lines(found)]
    if lines:
        told = "\n".join(lines)
        raise RunError(
            f"alarms stop the run, as alarms.stop says:\n{told}\n{store.path(REPORT)} shows more. Change the recipe, "
            "raise the limit (alarms.loses, alarms.cluster_share, alarms.bucket), or set alarms.stop to false; then "
            "run it again, and it goes on from here"
        )


def _sweep(store: Store, records: list[Record]) -> None:
    """Removes what the run does not stand on: other records, and files of ours that no record of the run names."""
    keep = {record.name for record in records}
    keep |= {artefact.path for record in records for artefact in record.artefacts.values()}
    _clear_temporary(store)
    for folder in FOLDERS:
        names = [f"{folder}/{name}" for name in files_below(store.path(folder))]
        remove(store.path(name) for name in names if name not in keep and _OURS.fullmatch(name))
        remove_empty_folders(store.path(folder))


def _write_run(store: Store, plan: Plan, records: list[Record], timings: dict[str, Timing], finished: bool) -> None:
    before = read_run(store.root) or {}
    digests: dict[tuple[str, str], list[str]] = {}
    for record in records:
        if record.stage == "measure":
            digests.setdefault((record.facts["dataset"], record.facts["file"]), []).append(record.facts["digest"])
    artefacts = {a.path: a.bytes for record in records for a in record.artefacts.values()}
    run = {
        "schema": 1,
        "finished": finished,
        "fingerprint": plan.fingerprint,
        "name": plan.recipe.name,
        "versions": made_of.versions(),
        "machine": {"host": socket.gethostname(), "system": platform.platform(), "cpus": os.cpu_count()},
        "inputs": [
            {
                "dataset": d.dataset,
                "file": f.file,
                "url": f.url,
                "size": f.size,
                "version": f.version,
                "read": digests.get((d.dataset, f.file), []),
            }
            for d in plan.datasets
            for f in d.files
        ],
        "records": dict(sorted(Counter(record.stage for record in records).items())),
        "outputs": sorted([path, size] for path, size in artefacts.items() if not path.startswith("work/")),
        "runs": before.get("runs", []) + ([_told(timings, finished)] if timings else []),
    }
    store.write(RUN, orjson.dumps(run, option=orjson.OPT_INDENT_2))


def _told(timings: dict[str, Timing], finished: bool) -> dict[str, Any]:
    return {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "finished": finished,
        "stages": {stage: asdict(timing) for stage, timing in timings.items()},
    }
