#!/usr/bin/env bash
# A run under Slurm, one Ray node on each machine: sbatch configs/slurm.sh RECIPE OUT
# The environment VENV, the recipe, its files and OUT lie on a file system that all machines see.
#SBATCH --job-name=zydaflow
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --time=24:00:00
set -euo pipefail
recipe=$1 out=$2

. "${VENV:-$SLURM_SUBMIT_DIR/.venv}/bin/activate"

# One token for all machines of this job keeps other users of the cluster out.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN
RAY_AUTH_TOKEN=$(python -c "import secrets; print(secrets.token_hex(32))")

export RAY_SYMMETRIC_RUN_CLUSTER_WAIT_TIMEOUT=300
first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
# Starts Ray on every machine, the command on the first, and at its end stops both, with the command's exit status.
exec srun ray symmetric-run --address "$first:6379" --min-nodes "$SLURM_JOB_NUM_NODES" \
    --num-cpus "$SLURM_CPUS_ON_NODE" --object-store-memory 80000000 \
    -- zydaflow run "$recipe" --address auto --out "$out"
