"""What the configuration of the pictures takes from the environment."""

import os
import sys
from pathlib import Path

_HERE = Path(__file__).parent


def set_the_stage(model_port: int) -> None:
    """Tell this process, and those it starts, where the model is and how its tool server starts."""
    os.environ.update(
        SCREENSHOTS_MODEL_URL=f"http://127.0.0.1:{model_port}/llamacpp/v1",
        SCREENSHOTS_PYTHON=sys.executable,
        SCREENSHOTS_TOOL_SERVER=str(_HERE / "tool_server.py"),
        SCREENSHOTS_ANSWERS=str(_HERE / "stories" / "fleet.yaml"),
    )
