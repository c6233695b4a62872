"""Signals that are not of a text, but of what its record brings beside it."""

from collections.abc import Sequence

import pyarrow as pa

from zydaflow.signals import urls
from zydaflow.signals.metadata import NUMBER, column, numbers, parsed, texts
from zydaflow.signals.resources import Resources


def measure_records(
    names: Sequence[str], metadata: pa.Array, url: str | None, resources: Resources
) -> dict[str, pa.Array]:
    """Those of the named signals that are of metadata or URLs, by name, from n records.

    `metadata` is a JSON object for each record, or null; `url` the column in it that holds the URL. What a record does
    not have is null. Raises InputError for a list of URLs that cannot be used.
    """
    of_columns = [(name, of) for name in names if (of := column(name)) is not None]
    of_urls = [name for name in names if name in urls.NAMES]
    if not of_columns and not of_urls:
        return {}
    records = [parsed(record) if record else {} for record in metadata.to_pylist()]
    found = {}
    for name, of in of_columns:
        found[name] = (numbers if name.startswith(NUMBER) else texts)(record.get(of) for record in records)
    return found | urls.measure_urls(of_urls, texts(record.get(url or "") for record in records), resources)
