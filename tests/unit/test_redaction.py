"""What is taken for a secret and what is not, and what stands for it then."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import CORPUS, corpus_files, needs_corpus
from longjudge.redaction import (
    Redacted,
    Replacement,
    find_secrets,
    redact,
    redacted_fields,
    unredacted,
)
from secrets_for_tests import Planted, planted

PLANTED = planted()
TOKEN = next(each for each in PLANTED if each.kind == "github-token").parts[0]
KEY = next(each for each in PLANTED if each.kind == "private-key")


def test_the_planted_set_is_large_and_of_many_kinds() -> None:
    assert len(PLANTED) >= 200
    assert len({each.kind for each in PLANTED}) >= 25


@pytest.mark.parametrize("each", PLANTED, ids=lambda each: f"{each.kind}, {each.setting}")
def test_every_planted_secret_is_replaced_and_nothing_else(each: Planted) -> None:
    redacted = redact(each.text)
    assert [part for part in each.parts if part in redacted.text] == []
    assert [found.kind for found in redacted.replacements] == [each.kind]
    [found] = redacted.replacements
    assert redacted.text == each.text[: found.start] + found.placeholder + each.text[found.end :]
    assert redact(redacted.text).replacements == ()


@pytest.mark.thorough
def test_no_secret_of_many_planted_sets_is_left() -> None:
    for seed in range(40):
        for each in planted(seed):
            redacted = redact(each.text).text
            assert not any(part in redacted for part in each.parts), each


NO_SECRETS = (
    "PASSWORD=$DB_PASSWORD",
    'password = os.environ["DB_PASSWORD"]',
    "api_key: ${API_KEY}",
    'token = get_token("abc12345")',
    "token = response.json2",
    '"password": "your-password-here"',
    "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
    "secret: <my-secret-1234567>",
    "token: ***",
    '"max_tokens": 4096, "token_count": 12345678',
    '"next_page_token": "abc123def456ghi789"',
    "The password is the one that you chose yesterday.",
    "Bearer authentication-is-what-it-takes",
    '"type": "password", "label": "Enter your password"',
    "--password-file /run/secrets/db1",
    "PWD=/home/me/work1 OLDPWD=/tmp/x2",
    "https://example.com:8443/path?a=b",
    "postgres://user:password@localhost/db",
    "postgres://$USER:$PASSWORD@db/x",
    "git clone git@github.com:a/b.git",
    "docker run -u 1000:1000 image",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:" + "0a1b2c3d" * 8,
    "sk-learn-is-a-library-with-a-long-name-of-words",
    "gh" + "p_" + "x" * 36,
    "AK" + "IAIOSFODNN7EXAMPLE",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    'BEGIN = "-----BEGIN ' + 'PRIVATE KEY-----"\nEND = "-----END PRIVATE KEY-----"',
    "test_the_password_is_never_shown_to_anyone_2",
    "cookie: theme=dark; lang=en",
    '["username", "password", "host_name_1"]',
    "SECRET_NAME=my-app-secret-v1",
    "const tokenTypes = ['access2', 'refresh2'];",
    '"password": "Enter your password"',
    '"passwordHint": "At least 8 characters"',
    '"password": "Mot de passe"',
    '"password": "Wachtwoord", "title": "пароль"',
    '"password":"パスワード"',
    "The password is hashed with sha256 and a salt.",
    "Your token is invalid or expired (401).",
    'password = getpass.getpass("Password: ")',
    "password = (\n    getpass()\n)",
    'password = settings.get("x") or "default"',
    "token = next(tokens)",
    '"pass": 12, "fail": 3',
    'first_pass = "ok12345"',
    '{"name":"password","type":"password","value":""}',
    "- name: PASSWORD\n  valueFrom:\n    secretKeyRef:",
    "| password | string | required |",
    "password: ${DB_PASSWORD:?not given}",
    "gpg --recv-keys " + "890C08DB8579162F" * 2 + "EE0DF9DB",
    "docker run -p 8080:80 nginx",
    "mysql -u root -p -h db1",
    "npm login --registry=https://registry.example.com/x1",
    "ssh -p 2222 user@host1",
    "costs $6$ now, $5$ before",
    "ABCD1234\n-----END PUBLIC KEY-----",
    "http://localhost:8080/a@b",
    "postgres://localhost:5432/db@x",
    "https://example.com/@scope/pkg",
    "https://example.com/x?key=user_profile_settings_2",
    "integrity sha512-" + "aB3xY9" * 14 + "==",
    'auth: required, author="abc12345def"',
    "token TokenClassificationPipeline2Tests",
    "api key ApiKeyAuthenticationProvider2Impl",
    "--- PASS: TestX1 (0.00s)",
    "PASS=10/12",
    "<password>string</password>",
    "default-token-abc12   kubernetes.io/service-account-token   3",
    '"pwd": "/home/x1"',
    "PUBLIC_KEY=ssh-ed25519",
    "CACHE_KEY=node-modules-v1-abc123",
    "api_key (string, required): key_1",
    "session key      /var/lib/app/sessions/abc1",
    "password: |\n  Enter your password",
)


@pytest.mark.parametrize("text", NO_SECRETS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


def test_the_name_and_what_stands_around_a_secret_stay() -> None:
    text = f"export GITHUB_VALUE={TOKEN} && echo postgres://app:pA55word9@db/x"
    sent = redact(text).text
    assert re.fullmatch(
        r"export GITHUB_VALUE=\[redacted github-token [0-9a-f]{4}\]"
        r" && echo postgres://app:\[redacted password\]@db/x",
        sent,
    )


def test_a_secret_has_one_placeholder_everywhere_and_two_secrets_have_two() -> None:
    other = TOKEN[:-1] + ("a" if TOKEN[-1] != "a" else "b")
    first = redact(f"a {TOKEN} b").replacements[0].placeholder
    assert redact(f'{{"x": "{TOKEN}"}}').replacements[0].placeholder == first
    assert redact(f"a {other} b").replacements[0].placeholder != first


def test_a_secret_that_is_named_once_is_replaced_where_it_stands_alone_too() -> None:
    value = "k9w3" + "Zq7Lm2Xv8Bn4"
    sent = redact(f"API_KEY={value}\n…\nusing {value} now").text
    assert value not in sent
    assert len(set(re.findall(r"\[redacted secret [0-9a-f]{4}\]", sent))) == 1


def test_a_password_leaves_no_digits_to_guess_it_by() -> None:
    assert redact('{"password": "hunter22"}').text == '{"password": "[redacted password]"}'


def test_a_redacted_json_is_json_still() -> None:
    value = {"password": 'a"b1c\\d', "note": f"see {TOKEN}", "key": KEY.text}
    sent = redact(json.dumps(value)).text
    assert set(json.loads(sent)) == set(value)
    assert TOKEN not in sent


def test_no_placeholder_looks_like_a_mark_of_the_prompt() -> None:
    for each in PLANTED:
        for found in redact(each.text).replacements:
            assert re.fullmatch(r"\[redacted [a-z0-9-]+( [0-9a-f]{4})?\]", found.placeholder)


def test_a_text_cannot_keep_a_secret_by_writing_a_placeholder_around_it() -> None:
    for text in (f"[redacted {TOKEN}]", f"[redacted github-token {TOKEN}]"):
        assert TOKEN not in redact(text).text
    assert "hunter22x" not in redact("[redacted password=hunter22x]").text


def test_a_key_without_its_end_is_replaced_as_far_as_it_goes() -> None:
    text = KEY.text.partition("-----END")[0]
    sent = redact(f"{text}\n\nThat was all of it.").text
    assert not any(part in sent for part in KEY.parts)
    assert sent.endswith("That was all of it.")


_SOME = st.sampled_from([each.text for each in PLANTED])
_GLUE = st.text("ab \n=:\"'[]{}\\,/@token", max_size=12)


@given(st.lists(_SOME, max_size=6).map("\n\n".join))
def test_text_that_was_redacted_stays_as_it_is(text: str) -> None:
    sent = redact(text).text
    assert redact(sent).text == sent


@given(st.lists(st.one_of(_SOME, _GLUE), max_size=6).map("".join))
def test_a_placeholder_stays_as_it_is_whatever_stands_around_it(text: str) -> None:
    redacted = redact(text)
    rest = redact(redacted.text).text
    for each in redacted.replacements:
        before, found, rest = rest.partition(each.placeholder)
        assert found, (text, redacted.text, before)


@st.composite
def _redacted(draw: st.DrawFn) -> Redacted:
    text = draw(st.text("abc", min_size=1, max_size=40))
    ends = draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True).map(sorted))
    pairs = zip(ends[::2], ends[1::2], strict=False)
    return Redacted(text, tuple(Replacement(a, b, "k", f"<{n}>") for n, (a, b) in enumerate(pairs)))


@given(_redacted(), st.data())
def test_the_pieces_of_a_text_are_the_whole_of_what_is_sent(
    redacted: Redacted, data: st.DataObject
) -> None:
    length = len(redacted.original)
    cuts = sorted({0, length, *data.draw(st.lists(st.integers(0, length), max_size=5))})
    pieces = [redacted.piece(a, b) for a, b in pairwise(cuts)]
    assert "".join(each.text for each in pieces) == redacted.text
    assert "".join(each.original for each in pieces) == redacted.original


@given(_redacted(), st.data())
def test_a_stretch_of_what_is_sent_leads_back_to_the_original(
    redacted: Redacted, data: st.DataObject
) -> None:
    a, b = sorted(data.draw(st.tuples(*[st.integers(0, len(redacted.text))] * 2)))
    start, end = redacted.to_original(a, b)
    assert 0 <= start <= end <= len(redacted.original)
    for each in redacted.replacements:
        # A secret is in it whole, or not at all.
        assert each.end <= start or each.start >= end or (start <= each.start and each.end <= end)
    if a < b:
        low, high = redacted.from_original(start, end)
        assert low <= a
        assert b <= high


def test_a_secret_over_the_edge_of_a_piece_is_in_neither_of_both() -> None:
    redacted = redact(f"before {TOKEN} after")
    for cut in range(8, 8 + len(TOKEN)):
        first, second = redacted.piece(0, cut).text, redacted.piece(cut, 99).text
        assert first.startswith("before [redacted github-token ")
        assert second == " after"


def test_unredacted_text_is_sent_as_it_is() -> None:
    assert unredacted(TOKEN).text == TOKEN
    assert unredacted(TOKEN).to_original(2, 5) == (2, 5)


def test_every_string_of_a_json_value_is_redacted_and_nothing_else() -> None:
    fields = {"a": [TOKEN, 1, None], "b": {"c": f"x {TOKEN}"}, "password": "kept"}
    sent = redacted_fields(fields)
    assert TOKEN not in json.dumps(sent)
    assert sent["a"] == [redact(TOKEN).text, 1, None]
    assert sent["password"] == "kept"


HOSTILE = (
    "a",
    "gh" + "p_",
    "sk-",
    "ey" + "J-",
    "token=",
    '"password": "',
    '\\"token\\":\\"',
    "://a:b@",
    "-----BEGIN " + "PRIVATE KEY-----",
    "cookie: sessionid=a;",
    "authorization: bearer ",
    "curl -u a:",
    "--password ",
    "[redacted token=abc123def456",
    "key=&key=",
    "password=os or ",
    "server=a;pwd=",
    "user: a, pass: ",
    "echo a:b1c | chpasswd ",
    "A" * 64 + "\n-----END " + "PRIVATE KEY-----\n",
    "\x1b[1mpassword\x1b[1m=",
    "postgres://a:",
    "machine a login b password ",
)


@pytest.mark.thorough
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_time_by_its_length_and_no_more(unit: str) -> None:
    def taken(chars: int) -> float:
        text = unit * (chars // len(unit))
        started = time.process_time()
        redact(text)
        return time.process_time() - started

    small = min(taken(100_000) for _ in range(3))
    # Eight times the text, in a time that a square would pass by far.
    assert taken(800_000) < 30 * small + 0.5


def test_a_text_of_several_windows_is_searched_like_a_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "\n".join(f"{n} {each.text}" for n, each in enumerate(PLANTED))
    whole = redact(text)
    monkeypatch.setattr("longjudge.redaction.detect.WINDOW", 500)
    assert redact(text) == whole


def test_a_search_can_be_stopped_in_every_step_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longjudge.redaction.detect.WINDOW", 500)
    monkeypatch.setattr("longjudge.redaction.detect._REPEATED_WINDOW", 500)
    text = "API_KEY=k9w3" + "Zq7Lm2Xv8Bn4\n" + "word " * 1_000
    asked = 0

    def stopped() -> bool:
        nonlocal asked
        asked += 1
        return False

    assert len(find_secrets(text, stopped)) == 1
    # Once for each stretch that is searched, and again where the secret is looked for once more.
    assert asked >= 2 * len(text) // 500
    assert find_secrets(text, lambda: True) == ()


def _found_in(path: str) -> tuple[int, Counter[str]]:
    words, found = 0, Counter[str]()
    text = (CORPUS / path).read_text(encoding="utf-8", errors="replace")
    words += len(text.split())
    found.update(each.kind for each in redact(text).replacements)
    return words, found


@needs_corpus
@pytest.mark.parametrize(
    "share", [pytest.param(1, marks=pytest.mark.thorough), pytest.param(8)], ids=["all", "sampled"]
)
def test_less_than_one_in_ten_thousand_ordinary_words_is_touched(share: int) -> None:
    files = [path for path in corpus_files()[::share] if (CORPUS / path).stat().st_size < 5_000_000]
    words, found = 0, Counter[str]()
    for path in files:
        count, kinds = _found_in(path)
        words += count
        found += kinds
    assert words > 1_000
    assert found.total() <= words / 10_000, found
