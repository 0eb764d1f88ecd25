"""Secrets that are known by their shape: a head that their issuer gives all of them, and a body.

The shapes are those that the issuers document. Every expression is matched at one place only and
runs over each character once, so that no text, however hostile, costs more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

RUN = 20
"""Every shape holds so many letters, digits, `_` and `-` in a row; shorter runs are passed over."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret: what it may begin with, and the whole of it as an expression."""

    kind: str
    heads: tuple[str, ...]
    body: str
    mixed: bool = False
    """Whether the body must have a digit and both cases, since words could be of the same shape."""

    expression: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        heads = "|".join(map(re.escape, sorted(self.heads, key=len, reverse=True)))
        object.__setattr__(self, "expression", re.compile(f"(?:{heads}){self.body}", re.ASCII))

    def match(self, text: str, start: int) -> tuple[int, bool]:
        """How far what starts here reaches, and whether it is a secret."""
        found = self.expression.match(text, start)
        if found is None:
            return start, False
        value = found.group()
        varied = len(set(value[-RUN:])) >= _LEAST_VARIED
        stands_in = not varied or value.endswith("EXAMPLE")
        return found.end(), not stands_in and (not self.mixed or _is_mixed(value))


_LEAST_VARIED = 6
"""Fewer different characters than this at the end are `xxxx…` or `0000…`, and no secret."""


def _is_mixed(value: str) -> bool:
    return (
        any(map(str.isdigit, value))
        and any(map(str.isupper, value))
        and any(map(str.islower, value))
    )


_WORD = "[A-Za-z0-9]"
_LINK = "[A-Za-z0-9_-]"

SHAPES: tuple[Shape, ...] = (
    Shape("aws-key-id", ("AKIA", "ASIA", "ABIA", "ACCA"), "[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape("aws-key-id", ("A3T",), "[A-Z0-9]{17}(?![A-Za-z0-9])"),
    Shape("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), f"{_WORD}{{36,}}+"),
    Shape("github-token", ("github_pat_",), "[A-Za-z0-9_]{40,}+"),
    Shape(
        "gitlab-token",
        (
            "glpat-",
            "gldt-",
            "glrt-",
            "glcbt-",
            "glptt-",
            "glsoat-",
            "glft-",
            "glimt-",
            "glagent-",
            "gloas-",
        ),
        r"[\w.-]{18,}+",
    ),
    Shape("gitlab-token", ("GR1348941",), f"{_LINK}{{20,}}+"),
    Shape(
        "slack-token",
        ("xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxc-", "xoxd-"),
        r"[\w%.-]{16,}+",
    ),
    Shape("slack-token", ("xapp-",), f"{_LINK}{{20,}}+"),
    Shape(
        "stripe-key",
        ("sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"),
        f"{_WORD}{{16,}}+",
    ),
    Shape("stripe-key", ("whsec_",), "[A-Za-z0-9+/]{24,}+={0,2}"),
    Shape("anthropic-key", ("sk-ant-",), f"{_LINK}{{20,}}+", mixed=True),
    Shape(
        "openai-key",
        ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"),
        f"{_LINK}{{20,}}+",
        mixed=True,
    ),
    Shape("openai-key", ("sk-",), f"{_WORD}{{32,}}+"),
    Shape("openai-key", ("sk-",), f"{_LINK}{{32,}}+", mixed=True),
    Shape("openrouter-key", ("sk-or-v1-",), "[0-9a-f]{40,}+"),
    Shape("google-api-key", ("AIza",), f"{_LINK}{{35}}(?![A-Za-z0-9_])"),
    Shape("google-oauth-secret", ("GOCSPX-",), f"{_LINK}{{24,}}+"),
    Shape("npm-token", ("npm_",), f"{_WORD}{{36,}}+"),
    Shape(
        "pypi-token", ("pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZw"), f"{_LINK}{{40,}}+"
    ),
    Shape("twilio-key", ("SK",), "[0-9a-f]{32}(?![A-Za-z0-9_-])"),
    Shape("square-token", ("sq0atp-", "sq0csp-", "sq0idp-"), f"{_LINK}{{22,}}+"),
    Shape("square-token", ("EAAA",), f"{_LINK}{{60}}(?![A-Za-z0-9_-])", mixed=True),
    Shape("huggingface-token", ("hf_", "api_org_"), "[A-Za-z0-9]{30,}+"),
    Shape("databricks-token", ("dapi",), "[0-9a-f]{32}(?:-[0-9])?(?![A-Za-z0-9_])"),
    Shape("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), "[0-9a-f]{64}"),
    Shape("docker-token", ("dckr_pat_", "dckr_oat_"), f"{_LINK}{{20,}}+"),
    Shape("shopify-token", ("shpat_", "shpca_", "shppa_", "shpss_"), "[0-9a-fA-F]{32}"),
    Shape("linear-key", ("lin_api_", "lin_oauth_"), f"{_WORD}{{32,}}+"),
    Shape("notion-token", ("ntn_",), f"{_WORD}{{40,}}+"),
    Shape("notion-token", ("secret_",), f"{_WORD}{{43}}(?![A-Za-z0-9_-])"),
    Shape("figma-token", ("figd_", "figdr_", "figdh_"), f"{_LINK}{{38,}}+"),
    Shape("grafana-token", ("glsa_",), "[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    Shape("grafana-token", ("glc_",), "[A-Za-z0-9+/]{32,}+={0,2}"),
    Shape("atlassian-token", ("ATATT3", "ATCTT3", "ATBB"), r"[\w=-]{28,}+", mixed=True),
    Shape("newrelic-key", ("NRAK-", "NRII-", "NRJS-", "NRRA-", "NRSP-"), f"{_LINK}{{19,}}+"),
    Shape("age-key", ("AGE-SECRET-KEY-1",), "[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,}+"),
    Shape("groq-key", ("gsk_",), f"{_WORD}{{40,}}+"),
    Shape("xai-key", ("xai-",), f"{_WORD}{{60,}}+"),
    Shape("perplexity-key", ("pplx-",), f"{_WORD}{{40,}}+"),
    Shape("replicate-token", ("r8_",), f"{_WORD}{{36,}}+"),
    Shape("nvidia-key", ("nvapi-",), f"{_LINK}{{60,}}+"),
    Shape("sentry-token", ("sntryu_", "sntrys_"), r"[\w+/=-]{40,}+"),
    Shape("supabase-token", ("sbp_", "sb_secret_"), f"{_LINK}{{30,}}+"),
    Shape("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w.=-]{32,}+"),
    Shape("postman-key", ("PMAK-",), "[0-9a-f]{24}-[0-9a-f]{34}"),
    Shape("pulumi-token", ("pul-",), "[0-9a-f]{40}"),
    Shape("rubygems-key", ("rubygems_",), "[0-9a-f]{48}"),
    Shape("crates-token", ("cio",), "[A-Za-z0-9]{32}(?![A-Za-z0-9_-])", mixed=True),
    Shape("netlify-token", ("nfp_",), f"{_WORD}{{36,}}+"),
    Shape("sourcegraph-token", ("sgp_",), r"[0-9a-f_]{40,}+"),
    Shape("heroku-key", ("HRKU-",), f"{_LINK}{{36,}}+"),
    Shape("contentful-token", ("CFPAT-",), f"{_LINK}{{40,}}+"),
    Shape("mailgun-key", ("key-",), "[0-9a-f]{32}(?![A-Za-z0-9_-])"),
    Shape("alibaba-key-id", ("LTAI",), f"{_WORD}{{20}}(?![A-Za-z0-9_-])", mixed=True),
    Shape("artifactory-key", ("AKCp",), f"{_WORD}{{40,}}+", mixed=True),
    Shape("1password-token", ("ops_eyJ",), "[A-Za-z0-9+/_-]{200,}+={0,3}"),
    Shape("sendinblue-key", ("xkeysib-",), "[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    Shape("readme-key", ("rdme_",), "[a-z0-9]{70}"),
    Shape("easypost-key", ("EZAK", "EZTK"), f"{_WORD}{{54}}"),
    Shape("flyio-token", ("fo1_",), f"{_LINK}{{43}}"),
)
"""Their heads stand at the start of a run, or after a `_` or `-` in one."""


@dataclass(frozen=True, slots=True)
class Parted:
    """One kind of secret whose head is parted from its run by a dot or a colon."""

    kind: str
    head: str
    body: str
    expression: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "expression", re.compile(self.body, re.ASCII))


PARTED: tuple[Parted, ...] = (
    Parted("google-oauth-token", r"ya29\.(?:[\w-]{1,8}\.)?", f"{_LINK}{{20,}}+"),
    Parted("sendgrid-key", r"SG\.", rf"{_LINK}{{16,32}}+\.{_LINK}{{30,}}+"),
    Parted("vault-token", r"hv[sbr]\.", f"{_LINK}{{20,}}+"),
    Parted(
        "doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,35}\.)?", f"{_WORD}{{40,}}+"
    ),
    Parted("dynatrace-token", r"dt0[a-z]\d\d\.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    Parted("airtable-token", r"pat[A-Za-z0-9]{14}\.", "[0-9a-f]{64}"),
    Parted("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.", r"[\w=-]{60,}+"),
    Parted("telegram-token", r"\d{8,10}:", r"AA[\w-]{32,34}(?![\w-])"),
)
PARTED_CHARS = 50
"""No head is longer than this."""

HEADLESS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(expression, re.ASCII))
    for kind, expression in (
        ("jwt", r"eyJ[\w-]{10,}+\.ey[\w-]{10,}+(?:\.[\w-]{10,}+)?"),
        ("discord-token", r"[MNO][\w-]{23,27}+\.[\w-]{6,7}+\.[\w-]{27,40}+(?![\w-])"),
        ("mailchimp-key", r"[0-9a-f]{32}-us\d{1,2}(?![\w-])"),
    )
)
"""Tried at the start of a run alone."""

SHAPED_KINDS = frozenset(
    [shape.kind for shape in (*SHAPES, *PARTED)] + [kind for kind, _ in HEADLESS]
)
