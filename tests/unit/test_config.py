"""The configuration file: what it may say, what is said of it, and what beats what."""

from __future__ import annotations

import os
import re
from pathlib import Path

import platformdirs
import pytest

from longjudge.config import (
    Configuration,
    choose,
    load_configuration,
    parse_configuration,
)
from longjudge.errors import ConfigurationError, UsageError
from longjudge.prices import Price, Usage, cost_usd

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"
HERE = Path("/conf/config.toml")
PROFILE = '[profiles.work]\nmodel = "m"\n'


def example() -> str:
    found = re.search(r"```toml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found.group(1)


def fault(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parse_configuration(text, HERE)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_the_documented_example_is_read_and_shows_every_key() -> None:
    text = example()
    config = parse_configuration(text, HERE)
    home = Path.home()
    assert config.model == "work"
    assert (config.chunk_chars, config.concurrency, config.time_limit) == (30_000, 4, 600)
    assert config.store == home / "judging" / "store.sqlite"
    assert config.rubrics == (Path("/conf/rubrics"), home / "judging" / "secrets.toml")
    work, local = config.profiles["work"], config.profiles["local"]
    assert work.key_variable == "WORK_GATEWAY_KEY"
    assert work.price is not None
    assert work.price.to_price() == Price(0.12, 0.60, 0.012, 0.15)
    assert (local.stream, local.key_variable) == (True, None)
    for model in (Configuration, type(work), type(work.price)):
        for key in model.model_fields:
            assert re.search(rf"\b{key}\b", text), key
    by_tokens = text.replace("chunk_chars =", "# chunk_chars =").replace(
        "# chunk_tokens", "chunk_tokens"
    )
    assert parse_configuration(by_tokens, HERE).chunk_tokens == 12_000


def test_the_table_of_the_document_names_the_defaults() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    chosen = choose(Configuration())
    assert f"| {chosen.settings.concurrency} |" in text
    assert f"| {chosen.settings.chunk_chars:,} characters |" in text
    assert f"| {chosen.settings.time_limit:g} seconds |" in text
    assert f"| `{chosen.rubric}` |" in text


def test_no_file_is_an_empty_configuration() -> None:
    assert load_configuration() == Configuration()
    assert parse_configuration("", HERE) == Configuration()


def test_the_file_in_the_users_folder_is_read_and_a_named_one_instead(
    monkeypatch, tmp_path: Path
) -> None:
    mine = platformdirs.user_config_path("longjudge") / "config.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text('model = "mine"')
    assert load_configuration().model == "mine"
    named = tmp_path / "other.toml"
    named.write_text('model = "other"\nstore = "s.sqlite"')
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(named))
    assert load_configuration().model == "other"
    assert load_configuration().store == tmp_path / "s.sqlite"
    monkeypatch.setenv("LONGJUDGE_CONFIG", "")
    assert load_configuration().model == "mine"


def test_a_path_starts_where_the_file_is_even_when_the_file_is_named_from_here(
    monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.toml").write_text('store = "s.sqlite"\nrubric = "r/x.toml"')
    monkeypatch.setenv("LONGJUDGE_CONFIG", "c.toml")
    config = load_configuration()
    assert config.store == tmp_path / "s.sqlite"
    assert config.rubric == str(tmp_path / "r" / "x.toml")


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "latin", "large"])
def test_a_named_file_that_cannot_be_read_is_an_error(monkeypatch, tmp_path: Path, kind) -> None:
    path = tmp_path / "c.toml"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "latin":
        path.write_bytes(b'\nmodel = "\xe9"')
    elif kind == "large":
        path.write_text("#" * 100_001)
    monkeypatch.setenv("LONGJUDGE_CONFIG", str(path))
    with pytest.raises(ConfigurationError) as caught:
        load_configuration()
    said = {
        "missing": ": the configuration cannot be read (No such file or directory); set LONGJUDGE",
        "folder": ": not a file",
        "fifo": ": not a file",
        "latin": ":2: not UTF-8",
        "large": ": larger than 100000 bytes",
    }
    assert str(caught.value).startswith(f"{path}{said[kind]}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = \n", "1: not valid TOML: Invalid value; mend it"),
        ('theme = "x"\ntheme = "y"', "2: not valid TOML: Cannot overwrite a value; mend it"),
        ('\n\nmodle = "x"', "3: modle: unknown key; did you mean model?"),
        ("zzz = 1", "1: zzz: unknown key; known are batches, chunk_chars, chunk_tokens"),
        ('[profiles.work]\nmodle = "x"', "2: profiles.work.modle: unknown key; did you mean model"),
        (PROFILE + "streams = true", "3: profiles.work.streams: unknown key; did you mean stream?"),
        (PROFILE + "price = {input = 1, outptu = 2}", "3: profiles.work.price.outptu: unknown key"),
        ("[profiles.work]\nstream = true", "1: profiles.work.model: missing; add it"),
        (PROFILE + "price = {input = 1}", "3: profiles.work.price.output: missing; add it"),
        (PROFILE + "price = {input = -1, output = 1}", "3: profiles.work.price.input: out of"),
        (PROFILE + "price = {input = nan, output = 1}", "3: profiles.work.price.input: no number"),
        (PROFILE + 'price = "cheap"', "3: profiles.work.price: no table; write one"),
        (PROFILE + "stream = 1", "3: profiles.work.stream: neither true nor false"),
        (PROFILE + 'base_url = "gateway.example"', "3: profiles.work.base_url: no http or https"),
        (PROFILE + 'base_url = "http://u:hush@x"', "3: profiles.work.base_url: an address with"),
        (PROFILE + 'base_url = "http://x/?key=hush"', "3: profiles.work.base_url: an address with"),
        (PROFILE.replace('"m"', '"offline"'), "2: profiles.work.model: the offline rules have no"),
        (PROFILE.replace("work", "offline"), "1: profiles.offline: offline means the built-in"),
        (PROFILE.replace("work", '" work"'), "1: profiles. work: blank, or with white space"),
        ("profiles = 3", "1: profiles: no table"),
        ("[profiles]\nwork = 3", "2: profiles.work: no table"),
        ("model = 3", "1: model: no text; write it in quotes"),
        ('model = ""', "1: model: blank"),
        ('model = "a\\u0007"', "1: model: blank, or with white space or control characters"),
        ('rubric = " x"', "1: rubric: blank"),
        ("chunk_chars = 199", "1: chunk_chars: out of range; use 200 or more"),
        ("chunk_chars = 30_000.0", "1: chunk_chars: no whole number"),
        ("chunk_chars = 10_000_001", "1: chunk_chars: out of range; use at most 10000000"),
        ("chunk_tokens = 99", "1: chunk_tokens: out of range; use 100 or more"),
        ("chunk_chars = 900\n\nchunk_tokens = 900", "3: chunk_tokens: there is chunk_chars too"),
        ("concurrency = true", "1: concurrency: no whole number"),
        ("concurrency = 257", "1: concurrency: out of range; use at most 256"),
        ("time_limit = 0", "1: time_limit: out of range; use more than 0"),
        ("time_limit = inf", "1: time_limit: "),
        ("[batches]\nqueue = 3", "2: batches.queue: unknown key; did you mean queued?"),
        ("[batches]\nmax_requests = 100_001", "2: batches.max_requests: out of range; use"),
        ("[batches]\nlongest_look = 0", "2: batches.longest_look: out of range; use more than 0"),
        ('time_limit = "600"', "1: time_limit: no number; write one, without quotes"),
        ('store = ""', "1: store: no path"),
        ("store = 3", "1: store: no text"),
        ('store = "~nobody-here/x"', "1: store: no such home folder"),
        ('rubrics = "folder"', "1: rubrics: no list; write one in brackets"),
        ('rubrics = [\n"folder",\n3\n]', "1: rubrics.1: no text; write it in quotes"),
    ],
)
def test_a_fault_is_named_with_its_line(text: str, said: str) -> None:
    assert fault(text).startswith(f"/conf/config.toml:{said}")
    assert "hush" not in fault(text)


SECRET = "sk-ant-api03-abcdefgh0123456789"


@pytest.mark.parametrize(
    "text",
    [
        f'api_key = "{SECRET}"',
        'token = "anything"',
        'key = "anything"',
        f'model = "{SECRET}"',
        f'theme = "{SECRET}"',
        f'{SECRET} = "x"',
        f'[profiles."{SECRET}"]\nmodel = "m"',
        PROFILE + f'key_variable = "{SECRET}"',
        PROFILE + 'key_variable = "0123456789abcdef0123456789abcdef"',
        PROFILE + 'key_variable = "d0123456789abcdef0123456789abcdef"',
        PROFILE + f'key = "{SECRET}"',
        PROFILE + f'ApiKey = "{SECRET}"',
        PROFILE + f'auth-token = "{SECRET}"',
        PROFILE + f'base_url = "https://x/{SECRET}"',
        PROFILE + f'headers = {{ a = ["{SECRET}"] }}',
        PROFILE + 'model2 = "AIza0123456789abcdefghijklm"',
        f"model = {SECRET}",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(text: str) -> None:
    said = fault(text)
    assert re.match(r"/conf/config\.toml:\d+: ", said)
    for secret in (SECRET, SECRET[7:], "0123456789abcdef", "anything"):
        assert secret not in said


@pytest.mark.parametrize("name", ["WORK_KEY", "ANTHROPIC_API_KEY", "my_gateway_key_2", "K2"])
def test_a_name_of_a_variable_is_no_key(name: str) -> None:
    config = parse_configuration(PROFILE + f'key_variable = "{name}"', HERE)
    assert config.profiles["work"].key_variable == name


def test_words_that_only_begin_like_keys_are_allowed() -> None:
    text = 'model = "hf-mistral-7b-instruct-v0.2"\nrubrics = ["/home/ann/sk-learn-rubrics-2026"]'
    config = parse_configuration(f'{text}\n[profiles.token]\nmodel = "gpt-oss-120b"', HERE)
    assert list(config.profiles) == ["token"]


# Option, environment, configuration, default: each beats the next.

CONFIGURED = parse_configuration(
    'model = "configured"\nrubric = "configured"\nchunk_chars = 1000\nconcurrency = 2\n'
    'time_limit = 20\nstore = "configured"',
    HERE,
)
OPTIONS = {
    "model": "option",
    "rubric": "option",
    "chunk_chars": 2000,
    "concurrency": 3,
    "time_limit": 30.0,
    "store": "option",
}


def chosen(name: str, config: Configuration = CONFIGURED, **options: object) -> object:
    choice = choose(config, **options)
    value = getattr(choice, name) if hasattr(choice, name) else getattr(choice.settings, name)
    return str(value) if isinstance(value, Path) else value


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_beats_environment_and_configuration(monkeypatch, name: str) -> None:
    monkeypatch.setenv("JUDGE_MODEL", "environment")
    monkeypatch.setenv("LONGJUDGE_STORE", "environment")
    assert chosen(name, **{name: OPTIONS[name]}) == OPTIONS[name]


@pytest.mark.parametrize(
    ("name", "variable"), [("model", "JUDGE_MODEL"), ("store", "LONGJUDGE_STORE")]
)
def test_the_environment_beats_the_configuration(monkeypatch, name: str, variable: str) -> None:
    monkeypatch.setenv(variable, "environment")
    assert chosen(name) == "environment"
    assert chosen(name, Configuration()) == "environment"
    monkeypatch.setenv(variable, "")
    assert str(chosen(name)).endswith("configured")


@pytest.mark.parametrize(
    ("name", "configured", "default"),
    [
        ("model", "configured", None),
        ("rubric", "configured", "chunks"),
        ("chunk_chars", 1000, 30_000),
        ("concurrency", 2, 4),
        ("time_limit", 20.0, 600.0),
        ("store", "/conf/configured", str(platformdirs.user_data_path("longjudge"))),
    ],
)
def test_the_configuration_beats_the_default(name: str, configured, default) -> None:
    assert chosen(name) == configured
    if name == "store":
        default = str(platformdirs.user_data_path("longjudge") / "store.sqlite")
    assert chosen(name, Configuration()) == default


def test_a_size_that_is_given_beats_the_other_unit_of_the_configuration() -> None:
    by_tokens = parse_configuration("chunk_tokens = 900", HERE)
    assert choose(by_tokens).settings.chunk_tokens == 900
    assert choose(by_tokens, chunk_chars=1000).settings.chunk_tokens is None
    assert choose(CONFIGURED, chunk_tokens=900).settings.chunk_tokens == 900
    with pytest.raises(UsageError, match="exclude each other"):
        choose(CONFIGURED, chunk_tokens=900, chunk_chars=900)


@pytest.mark.parametrize("model", ["", " ", "a\n"])
def test_a_blank_model_is_refused(monkeypatch, model: str) -> None:
    with pytest.raises(UsageError, match="blank"):
        choose(CONFIGURED, model=model)


def test_a_price_that_was_set_beats_the_table_and_the_cache_costs_as_input_unless_said() -> None:
    usage = Usage(1_000_000, 2_000_000, 3_000_000, 4_000_000)
    assert cost_usd("my-own-model", usage) is None
    assert cost_usd("my-own-model", usage, Price(1, 10)) == 28.0
    assert cost_usd("claude-haiku-5-5", usage, Price(1, 10, 0.1, 2)) == pytest.approx(29.3)
    assert cost_usd("my-own-model", usage, Price(0, 0)) == 0.0


def test_tables_nested_too_deeply_are_one_line() -> None:
    dotted = ".".join("x" * 190)
    text = f"a = {(f'{{ {dotted} = ' * 20)}1{' }' * 20}"
    assert fault(text).endswith(f"{HERE.name}: nested too deeply; flatten it")


def test_an_empty_rubric_is_refused() -> None:
    with pytest.raises(UsageError, match="--rubric is empty; name a rubric"):
        choose(Configuration(), rubric="")


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch):
    def homeless(_):
        raise RuntimeError("could not determine the home directory")

    monkeypatch.delenv("LONGJUDGE_CONFIG", raising=False)
    monkeypatch.setattr("platformdirs.user_config_path", homeless)
    with pytest.raises(UsageError, match="set HOME"):
        load_configuration()
