"""Datasets of the Hugging Face Hub: `datasets` says which files a split has, our own readers read them from there."""

import re
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from zydaflow.errors import InputError
from zydaflow.patience import is_network_error, patiently, status_of
from zydaflow.sources.forms import SUFFIXES, form_of
from zydaflow.sources.listing import InputFile, bytewise, file_system, input_file, list_files

if TYPE_CHECKING:
    from zydaflow.recipe import DatasetSpec

HUB = "hub:"
HF = "hf://"
BUSY = (408, 429, 500, 502, 503, 504)  # HTTP statuses that may pass
UNREACHABLE = (
    "{path}: the Hugging Face Hub cannot be reached ({error}). Check the network, HF_ENDPOINT (of a mirror) and "
    "HF_TOKEN (for private data); or fetch it elsewhere with `hf download --repo-type dataset`, then set HF_HOME to "
    "where its cache lies and HF_HUB_OFFLINE=1"
)
_NAME = re.compile(r"hub:(?P<repo>[^/:@]+/[^/:@]+)(?::(?P<config>[^@]+))?(?:@(?P<revision>.+))?")
T = TypeVar("T")


class HubName(NamedTuple):
    """A dataset of the Hub as a recipe writes it: hub:OWNER/NAME[:CONFIG][@REVISION]."""

    repo: str
    config: str | None
    revision: str | None


def parse_hub_name(path: str) -> HubName:
    """The parts of a recipe's hub: path; raises InputError where it has another form."""
    match = _NAME.fullmatch(path)
    if match is None:
        raise InputError(f"{path}: a dataset of the Hub is written hub:OWNER/NAME[:CONFIG][@REVISION]")
    return HubName(**match.groupdict())


def list_hub_files(dataset: "DatasetSpec") -> list[InputFile]:
    """The data files of one split, pinned to the commit that the revision stands for now, in bytewise order of `file`.

    With HF_HUB_OFFLINE they are those of the snapshot in the local cache. Raises InputError where the Hub cannot be
    reached, or has no such dataset, configuration or split.
    """
    name = parse_hub_name(dataset.path)
    root, splits = _patiently(dataset.path, lambda: _data_files(name))
    if not splits:
        raise InputError(f"dataset {dataset.name}: {dataset.path} has no data files")
    split = dataset.split or (next(iter(splits)) if len(splits) == 1 else None)
    if split not in splits:
        wrong = f"has no split {split}" if split else "has several splits"
        raise InputError(f"dataset {dataset.name}: {dataset.path} {wrong}; set split: to one of {', '.join(splits)}")
    strange = [url for url in splits[split] if form_of(url) is None]
    if strange or not splits[split]:
        raise InputError(
            f"dataset {dataset.name}: {dataset.path} has {strange[0] if strange else 'no file'} in split {split}; "
            f"files must end in {', '.join(SUFFIXES)}"
        )
    files = _patiently(dataset.path, lambda: [_hub_file(url, root) for url in splits[split]])
    return sorted(files, key=lambda file: bytewise(file.file))


def list_hf_files(dataset: "DatasetSpec") -> list[InputFile]:
    """The files of an hf:// URL, which is the Hub's own path of files; raises what `list_hub_files` does."""
    return _explained(dataset.path, lambda: list_files(dataset))


def _data_files(name: HubName) -> tuple[str, dict[str, list[str]]]:
    """Where the repository is (a URL with the commit or, offline, a folder), and each split's files under it."""
    from datasets import load_dataset_builder  # these imports take seconds: only recipes that use the Hub pay for them
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    origin, revision = f"hf://datasets/{name.repo}", name.revision
    if constants.HF_HUB_OFFLINE:
        try:
            origin = snapshot_download(name.repo, repo_type="dataset", revision=revision, local_files_only=True)
        except LocalEntryNotFoundError as error:
            raise ConnectionError(f"HF_HUB_OFFLINE is set, and {name.repo} is not in the local cache") from error
        revision = None
    with TemporaryDirectory() as empty:  # the usual cache would stand in, with something older, for a Hub out of reach
        builder = load_dataset_builder(origin, name=name.config, revision=revision, cache_dir=empty)
    return str(builder.base_path), {str(split): list(urls) for split, urls in (builder.config.data_files or {}).items()}


def _hub_file(url: str, root: str) -> InputFile:
    fs, path = file_system(url)
    inside = url.startswith(root)
    return input_file(fs, url[len(root) :].lstrip("/") if inside else url.split("://")[-1], path)


def _patiently(path: str, ask: Callable[[], T]) -> T:
    """What `ask` returns, asked again while the Hub says that it is busy; its failures become InputError."""
    return _explained(path, lambda: patiently(ask, _is_busy))


def _explained(path: str, ask: Callable[[], T]) -> T:
    """What `ask` returns; its failures become InputError."""
    try:
        return ask()
    except InputError:
        raise
    except Exception as error:
        if _is_busy(error) or any(_is_connection_error(cause) for cause in _causes(error)):
            raise InputError(UNREACHABLE.format(path=path, error=error)) from error
        raise InputError(f"{path}: {error}") from error


def _is_busy(error: Exception) -> bool:
    return any(status_of(cause) in BUSY for cause in _causes(error))


def _is_connection_error(error: BaseException) -> bool:
    return isinstance(error, (ConnectionError, TimeoutError)) or (is_network_error(error) and status_of(error) is None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and those behind it; `datasets` hides the Hub's answer behind errors of its own."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
