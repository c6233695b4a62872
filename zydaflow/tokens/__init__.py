"""Text → token ids → Arrow shards that `datasets` memory-maps."""

from zydaflow.tokens.cutter import Cutter
from zydaflow.tokens.dataset_folder import folder_files
from zydaflow.tokens.schema import token_batches, token_schema
from zydaflow.tokens.tokenizer import Encoded, Tokenizer, check_sample, load
from zydaflow.tokens.train import train
from zydaflow.tokens.writer import ShardWriter

__all__ = [
    "Cutter",
    "Encoded",
    "ShardWriter",
    "Tokenizer",
    "check_sample",
    "folder_files",
    "load",
    "token_batches",
    "token_schema",
    "train",
]
