"""`python -m zydaflow`."""

import sys

from zydaflow.cli import main

sys.exit(main())
