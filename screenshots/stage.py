"""What the configuration of the pictures takes from the environment."""

import sys
from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).parent


def set_stage(model_port: int) -> Mapping[str, str]:
    """Variables that say where the model is, how its tool server starts and what senders show."""
    return {
        "SCREENSHOTS_MODEL_URL": f"http://127.0.0.1:{model_port}/llamacpp/v1",
        "SCREENSHOTS_PYTHON": sys.executable,
        "SCREENSHOTS_TOOL_SERVER": str(_HERE / "tool_server.py"),
        "SCREENSHOTS_ANSWERS": str(_HERE / "stories" / "fleet.yaml"),
        "SCREENSHOTS_SENDER_SECRET": "only for the pictures",
    }
