"""What is said about a model before it is asked, from the SDK's own files."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from longjudge import models
from longjudge.config import parse_configuration
from longjudge.judges.make import notice_about
from longjudge.models import SdkModels, model_notice, retirement_date, sdk_models

BEFORE, AFTER = date(2026, 1, 1), date(2028, 1, 1)

DEPRECATED = """
from typing import Dict

DEPRECATED_MODELS: Dict[str, str] = {
    "claude-opus-4-5": "January 22nd, 2027",
    "claude-mythos-preview": "June 30th, 2026",
}
"""
NAMES = """
Model = Union[
    Literal["claude-opus-5-5", "claude-opus-4-8", 'claude-opus-4-5', "claude-mythos-preview"],
    str,
]
"""


def write_sdk(folder: Path, **files: str) -> Path:
    """An SDK's folder; `__` in a name stands for a folder."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def sdk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed SDK that knows four models."""
    folder = write_sdk(tmp_path, _data__deprecated_models=DEPRECATED, types__model=NAMES)
    monkeypatch.setattr(models, "_sdk_folder", lambda: folder)
    return folder


def said(model: str, today: date = BEFORE) -> str:
    notice = model_notice(model, today)
    return notice.text if notice is not None else ""


@pytest.mark.usefixtures("sdk")
def test_a_deprecated_model_has_its_date_and_what_is_newer() -> None:
    assert said("claude-opus-4-5") == (
        "claude-opus-4-5 is deprecated and retires on 2027-01-22; claude-opus-5-5 is newer"
    )
    assert "retires on 2027-01-22" in said("claude-opus-4-5", date(2027, 1, 22))
    assert "retired on 2027-01-22" in said("claude-opus-4-5", date(2027, 1, 23))
    # A snapshot lives as long as its model; a family without a newer one names none.
    assert "retires on 2027-01-22; claude-opus-5-5" in said("claude-opus-4-5-20251101")
    assert said("claude-mythos-preview", AFTER).endswith("retired on 2026-06-30")


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize(
    "model",
    [
        "claude-opus-5-5",
        "claude-opus-4-8-20260101",
        # Only the price table knows these.
        "claude-haiku-5-5",
        "claude-3-opus-20240229",
        "offline",
    ],
)
def test_a_model_that_is_known_is_not_spoken_of(model: str) -> None:
    assert said(model) == ""


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("claude-hiku-5-5", "claude-haiku-5-5"),
        ("claude-opus-55", "claude-opus-5-5"),
        ("Claude-Opus-5-5", "claude-opus-5-5"),
        ("claude-mythos-previw", "claude-mythos-preview"),
        ("my-own-model", ""),
        ("\x1b[31mred\n", ""),
    ],
)
def test_an_unknown_model_is_named_with_what_may_be_meant(model: str, meant: str) -> None:
    notice = model_notice(model)
    assert notice is not None
    assert "no model of that name is known" in notice.text
    assert ("did you mean" in notice.text) == bool(meant)
    assert meant in notice.text
    assert (notice.text + notice.short + notice.word).isprintable()


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"_data__deprecated_models": "DEPRECATED_MODELS = load()", "types__model": ""},
        {"_data__deprecated_models": "DEPRECATED_MODELS = {\n    f(): 1,\n}\n"},
        {"_data__deprecated_models": "DEPRECATED_MODELS = {\n    1: 2,\n    'x': None,\n}\n"},
        {"_data__deprecated_models": "DEPRECATED_MODELS = {\n  ((((\n}\n"},
        {"_data__deprecated_models": "DEPRECATED_MODELS = {\n" + "[" * 100_000 + "\n}\n"},
    ],
)
def test_an_sdk_of_another_layout_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str]
) -> None:
    folder = write_sdk(tmp_path, **files)
    assert sdk_models(folder) == SdkModels()
    monkeypatch.setattr(models, "_sdk_folder", lambda: folder)
    assert model_notice("claude-nobody-9") is None
    monkeypatch.setattr(models, "_sdk_folder", lambda: None)
    assert model_notice("claude-nobody-9") is None


def test_the_table_is_found_where_other_versions_keep_it(tmp_path: Path) -> None:
    older = (
        "import x\n\nDEPRECATED_MODELS = {\n    'claude-a-1': 'May 1st, 2026',\n}\n\nclass M: ..."
    )
    folder = write_sdk(tmp_path, resources__messages__messages=older, types__model_param=NAMES)
    known = sdk_models(folder)
    assert known.retires == (("claude-a-1", "May 1st, 2026"),)
    assert "claude-opus-4-8" in known.names


def test_bytes_that_are_no_text_are_no_data(tmp_path: Path) -> None:
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "model.py").write_bytes(b"\xff\xfe'claude-x'")
    assert sdk_models(tmp_path) == SdkModels()


def test_the_installed_sdk_is_understood() -> None:
    import anthropic._data as data

    known = sdk_models(Path(data.__file__).parents[1])
    assert dict(known.retires) == data.DEPRECATED_MODELS
    assert "claude-haiku-5-5" in known.names
    assert all(retirement_date(when) for _, when in known.retires)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("January 22nd, 2027", date(2027, 1, 22)),
        ("November 30th, 2026", date(2026, 11, 30)),
        ("May 1st 2026", date(2026, 5, 1)),
        ("2027-01-22", date(2027, 1, 22)),
        ("February 30th, 2027", None),
        ("next spring", None),
        ("", None),
    ],
)
def test_dates_are_read_in_any_locale(words: str, day: date | None) -> None:
    assert retirement_date(words) == day


def test_a_date_that_is_none_is_shown_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = "DEPRECATED_MODELS = {\n    'claude-opus-4-5': 'soon\\x1b[0m',\n}\n"
    folder = write_sdk(tmp_path, _data__deprecated_models=table)
    monkeypatch.setattr(models, "_sdk_folder", lambda: folder)
    assert "retires on soon␛" in said("claude-opus-4-5", AFTER)


@pytest.mark.usefixtures("sdk")
def test_a_profile_is_spoken_of_by_its_model_unless_it_has_an_address_of_its_own() -> None:
    config = parse_configuration(
        "[profiles.mine]\nmodel = 'claude-hiku-5-5'\n"
        "[profiles.local]\nmodel = 'gemma'\nbase_url = 'http://127.0.0.1:9'\n",
        Path("/x/config.toml"),
    )
    notice = notice_about("mine", config)
    assert notice is not None
    assert "claude-hiku-5-5" in notice.text
    assert notice_about("local", config) is None
    assert notice_about("offline", config) is None
    assert notice_about(None, config) is None
