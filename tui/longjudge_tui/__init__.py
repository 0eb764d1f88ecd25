"""The terminal app: library, workbench, evidence."""

import os

FRAMES_PER_SECOND = 120
"""At most; a frame is drawn only where something changed. At the toolkit's own 60 a frame that is
ready waits for its turn as long as it took to make."""

# The toolkit reads it when it is imported, which is after this.
os.environ.setdefault("TEXTUAL_FPS", str(FRAMES_PER_SECOND))
