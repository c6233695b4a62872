"""Where documents come from: files of every form, read as batches of one schema, and the plan of how to cut them."""

from zydaflow.sources.listing import InputFile
from zydaflow.sources.plan import DatasetPlan, plan_dataset
from zydaflow.sources.read import read_shard
from zydaflow.sources.shard import QUARANTINE, RECORDS, Batch, Shard

__all__ = ["QUARANTINE", "RECORDS", "Batch", "DatasetPlan", "InputFile", "Shard", "plan_dataset", "read_shard"]
