"""`python -m longjudge` is the `longjudge` command."""

from __future__ import annotations

import sys

from longjudge.cli import main

sys.exit(main())
