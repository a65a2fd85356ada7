# SPDX-License-Identifier: MIT
"""ordinary.py -- text without secrets, much of which looks like them.

Files of this machine, ordinary.txt, and made ones: lock files, hashes, ids, data URIs, streams of
agents. collect() gives them all, as texts of one kind each.
"""

import base64
import json
import random
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from support.secrets import Templates

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
# These hold examples of secrets, and have to.
WITH_SECRETS = ("redact", "secret", "planted", "surroundings", "rules")
JQUERY = Path("/usr/share/javascript/jquery/jquery.min.js")
NAMES = """lodash react express commander chalk debug async webpack babel-core eslint minimist semver
glob rimraf yargs uuid ms tokenize-english passport password-prompt keyv secret-stack""".split()
FIELDS = ["id", "user_id", "parent_id", "request_id", "trace_id", "etag", "checksum", "sha", "node_id",
          "cursor", "next_page_token_type", "fingerprint", "hash", "digest", "revision", "session"]


@dataclass
class Text:
    kind: str
    name: str
    bytes: bytes


# -- files --

def files_of(kind, paths, lines_max):
    """Whole files until there are enough lines."""
    lines = 0
    for path in paths:
        if lines >= lines_max:
            return
        data = path.read_bytes()
        lines += data.count(b"\n")
        yield Text(kind, str(path), data)


def python_files():
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    paths += sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-s]*/*.py"))
    return files_of("python library", (p for p in paths if "-packages" not in str(p)), 24000)


def headers():
    return files_of("headers", sorted(Path("/usr/include").glob("*.h")), 16000)


def own_files():
    paths = [p for folder in ("src", "tests", "doc") for ending in ("c", "h", "py", "md", "scd", "build")
             for p in sorted((PROJECT / folder).rglob(f"*.{ending}"))]
    paths = [p for p in paths if not any(w in str(p.relative_to(PROJECT)) for w in WITH_SECRETS)]
    return files_of("this project", paths, 20000)


def jquery():
    if not JQUERY.exists():
        print(f"# {JQUERY} (Debian's libjs-jquery) is not here: left out")
        return []
    return [Text("jquery", str(JQUERY), JQUERY.read_bytes())]


def spoken():
    kind, lines = None, []
    for line in (HERE / "ordinary.txt").read_text().splitlines() + ["== "]:
        if line.startswith("== "):
            if lines:
                yield Text(kind, f"ordinary.txt, {kind}", ("\n".join(lines) + "\n").encode())
            kind, lines = line[3:], []
        elif kind:
            lines.append(line)


# -- made --

def b64(rng, count):
    return base64.b64encode(rng.randbytes(count)).decode()


def version(rng):
    return f"{rng.randrange(20)}.{rng.randrange(30)}.{rng.randrange(10)}"


def package_lock(rng, t):
    packages = {}
    for i in range(300):
        name, number = f"{rng.choice(NAMES)}-{i}", version(rng)
        packages[f"node_modules/{name}"] = {
            "version": number, "resolved": f"https://registry.npmjs.org/{name}/-/{name}-{number}.tgz",
            "integrity": "sha512-" + b64(rng, 64), "dev": True, "engines": {"node": ">=18"}}
    return json.dumps({"name": "app", "lockfileVersion": 3, "packages": packages}, indent=2)


def yarn_lock(rng, t):
    return "\n".join(
        f'{name}@^{number}:\n  version "{number}"\n  resolved "https://registry.yarnpkg.com/{name}/-/'
        f'{name}-{number}.tgz#{t.random("hex", 40)}"\n  integrity sha512-{b64(rng, 64)}\n'
        for name, number in ((rng.choice(NAMES), version(rng)) for _ in range(300)))


def cargo_lock(rng, t):
    return "\n".join(f'[[package]]\nname = "{rng.choice(NAMES)}"\nversion = "{version(rng)}"\nsource = '
                     '"registry+https://github.com/rust-lang/crates.io-index"\n'
                     f'checksum = "{t.random("hex", 64)}"\n' for _ in range(300))


def go_sum(rng, t):
    return "\n".join(f"github.com/{rng.choice(NAMES)}/{rng.choice(NAMES)} v{version(rng)}"
                     f"{rng.choice(['', '/go.mod'])} h1:{b64(rng, 32)}" for _ in range(800))


def poetry_lock(rng, t):
    return "\n".join(f'[[package]]\nname = "{rng.choice(NAMES)}"\nversion = "{version(rng)}"\nfiles = ['
                     f'\n    {{file = "x-{version(rng)}-py3-none-any.whl", hash = "sha256:'
                     f'{t.random("hex", 64)}"}},\n]\n' for _ in range(300))


def git_log(rng, t):
    return "\n".join(f"commit {t.random('hex', 40)}\nMerge: {t.random('hex', 7)} {t.random('hex', 7)}\n"
                     f"Author: Alice <alice@example.com>\n\n    token: refresh {rng.choice(NAMES)}\n\n"
                     f"index {t.random('hex', 7)}..{t.random('hex', 7)} 100644\n" for _ in range(400))


def uuids(rng, t):
    return "\n".join(f" {n} | {t.uuid()} | {t.uuid()} | active" for n in range(1500))


def data_uris(rng, t):
    return "\n".join(f'<img alt="key" src="data:image/png;base64,{b64(rng, 900)}">'
                     if n % 3 else f".i{n}{{background:url(data:font/woff2;base64,{b64(rng, 600)})}}"
                     for n in range(300))


def mime(rng, t):
    """base64 in lines of 76, as of an attachment or a certificate."""
    return "\n".join(["-----BEGIN CERTIFICATE-----"] + [b64(rng, 57) for _ in range(1000)]
                     + ["-----END CERTIFICATE-----"])


def digests(rng, t):
    return "\n".join(rng.choice([
        f"app/{rng.choice(NAMES)}@sha256:{t.random('hex', 64)}",
        f"{t.random('hex', 12)}   {rng.choice(NAMES)}:latest   \"/entrypoint.sh\"   2 hours ago",
        f"{t.random('hex', 64)}  ./dist/{rng.choice(NAMES)}.js",
        f"{t.random('hex', 32)}  {rng.choice(NAMES)}_{version(rng)}_amd64.deb",
        f"Digest: sha256:{t.random('hex', 64)}",
        f"FROM debian:12@sha256:{t.random('hex', 64)}",
    ]) for _ in range(1500))


def hex_dump(rng, t):
    lines = []
    for n in range(1500):
        data = rng.randbytes(16)
        shown = "".join(chr(b) if 32 <= b < 127 else "." for b in data)
        lines.append(f"{n * 16:08x}: {data.hex(' ', 2)}  {shown}")
    return "\n".join(lines)


def minified(rng, t):
    """Long lines: functions of one-letter names, tables, and a keyword here and there."""
    parts = []
    for _ in range(4000):
        a, b, c = rng.choices("abcdefghijklmnopqrstuvwxyz", k=3)
        parts.append(rng.choice([
            f"function {a}{b}({c},{a}){{return {c}.token===null?{a}:{b}({c}.key)}}",
            f'e.exports={{{a}:"{t.random("alnum", 5)}",password:"password",secret:!1,token:{b}.{c}}};',
            f"var {a}={b}.apiKey||{c}.headers[\"x-api-key\"],{c}=0x{t.random('hex', 8)};",
            f'{a}.type="password",{b}.token=void 0,{c}.setPassword({a}.value),{a}.key="Enter";',
            f'case {rng.randrange(99)}:{a}={{token:{b},secret:{c}.secret}};break;',
        ]))
    return "\n".join("".join(parts[i:i + 100]) for i in range(0, len(parts), 100))


def svg(rng, t):
    return "\n".join('<path d="M' + "".join(
        f"{rng.choice('LlCcHhVvzZ')}{rng.uniform(-99, 99):.3f},{rng.uniform(-9, 9):.2f}"
        for _ in range(40)) + f'" id="{t.random("lalnum", 8)}"/>' for _ in range(300))


def css(rng, t):
    return "\n".join(f".{rng.choice(NAMES)}-{t.random('lalnum', 6)} .token.keyword{{color:#"
                     f"{t.random('hex', 6)};--password-width:{rng.randrange(99)}px;content:\"\\f1"
                     f"{t.random('hex', 2)}\"}}" for _ in range(1500))


def source_map(rng, t):
    mappings = ";".join(",".join(t.random("b64", rng.randrange(4, 6)) for _ in range(20))
                        for _ in range(800))
    return json.dumps({"version": 3, "sources": [f"../src/{n}.ts" for n in NAMES], "mappings": mappings,
                       "names": ["token", "password", "apiKey", "secret"]})


def api_answer(rng, t):
    def value(name):
        return rng.choice([t.uuid, lambda: t.random("hex", 32), lambda: t.random("hex", 40),
                           lambda: t.random("lalnum", 20), lambda: b64(rng, 16),
                           lambda: t.random("digit", 18), lambda: rng.randrange(10**9)])()
    items = [{name: value(name) for name in rng.sample(FIELDS, 8)} for _ in range(200)]
    return json.dumps({"items": items, "has_more": True}, indent=1)


def agent_stream(rng, t):
    lines = []
    for n in range(800):
        usage = {"input_tokens": rng.randrange(9999), "cache_creation_input_tokens": rng.randrange(99999),
                 "cache_read_input_tokens": rng.randrange(99999), "output_tokens": rng.randrange(999),
                 "service_tier": "standard"}
        tool = {"type": "tool_use", "id": "toolu_01" + t.random("alnum", 22), "name": "Bash",
                "input": {"command": f"sha256sum dist/*.js  # {t.random('hex', 64)}"}}
        message = {"id": "msg_01" + t.random("alnum", 22), "role": "assistant", "content": [tool],
                   "model": "claude-sonnet-4-5-20250929", "stop_reason": None, "usage": usage}
        lines.append(json.dumps({
            "type": "assistant", "message": message, "session_id": t.uuid(), "uuid": t.uuid(),
            "parent_tool_use_id": None, "request_id": "req_011" + t.random("alnum", 21)},
            separators=(",", ":")))
        lines.append(json.dumps({
            "type": "user", "message": {"role": "user", "content": [{
                "tool_use_id": tool["id"], "type": "tool_result",
                "content": f"{n}\tconst token = await getToken();\n{n + 1}\tpassword: string;\n"
                           f"index {t.random('hex', 10)}..{t.random('hex', 10)}\n"}]},
            "session_id": t.uuid()}))
    return "\n".join(lines)


def code_about_secrets(rng, t):
    """Assignments of names to names: what a scanner for passwords sees most of."""
    words = ["user", "admin", "db", "smtp", "old", "new", "root", "proxy", "session", "client"]
    lines = []
    for _ in range(3000):
        a, b, secret = rng.choice(words), rng.choice(words), rng.choice(
            ["password", "token", "secret", "api_key", "passwd", "credentials"])
        lines.append(rng.choice([
            f"{a}_{secret} = {b}_{secret}",
            f"    self.{a}_{secret} = kwargs.pop('{b}_{secret}', None)",
            f"{secret}={a}.{secret},",
            f"  {secret}: {a}.{secret},",
            f"  {secret}: {a}.get{b.capitalize()}(),",
            f'{a}.{secret} = request.form["{secret}"]',
            f"if ({a}.{secret} === {b}.{secret}) return;",
            f"const {secret} = props.{a}.{secret};",
            f"let {secret}: string = {a}.{secret}.trim();",
            f"{secret} := {a}.{b.capitalize()}({secret})",
            f"auto {secret} = {a}->{secret}();",
            f"{secret}: {{{{ {a}_{secret} }}}}",
            f"export {a.upper()}_{secret.upper()}=${b.upper()}_{secret.upper()}",
            f"{a}_{secret}: ${{{b.upper()}_{secret.upper()}}}",
            f"@param {secret} the {secret} of the {a}",
            f"def check_{secret}({a}, {secret}: str = DEFAULT_{secret.upper()}) -> bool:",
            f"{secret} = {a}_{b}_{secret}_provider.lookup({rng.randrange(10)})",
            f"WHERE {a}.{secret} = {b}.{secret}",
            f'"{secret}": {a}_{secret},',
            f'"{secret}": {{"type": "string", "description": "the {secret} of the {a}"}},',
        ]))
    return "\n".join(lines)


def headers_and_ids(rng, t):
    return "\n".join(rng.choice([
        f"ETag: \"{t.random('hex', 32)}\"", f"X-Request-Id: {t.uuid()}", f"CF-RAY: {t.random('hex', 16)}-FRA",
        f"x-amz-id-2: {b64(rng, 48)}", f"traceparent: 00-{t.random('hex', 32)}-{t.random('hex', 16)}-01",
        f"Content-MD5: {b64(rng, 16)}", f"i-0{t.random('hex', 16)} running vpc-{t.random('hex', 8)}",
        f"gpg: using RSA key {t.random('HEX', 40)}", f"SHA256:{b64(rng, 32).rstrip('=')} root@host",
        f"https://cdn.example.com/assets/{t.random('alnum', 20)}/{t.random('hex', 40)}.js",
        f"https://www.youtube.com/watch?v={t.random('b64url', 11)}",
        f"https://docs.example.com/document/d/1{t.random('b64url', 43)}/edit",
        f"0x{t.random('hex', 40)} 0x{t.random('hex', 64)}", f"build-{t.random('lalnum', 26)}.log",
        f"pod/web-{t.random('hex', 9)}-{t.random('lalnum', 5)} 1/1 Running", f"nonce-{b64(rng, 16)}",
        f"key-{rng.randrange(999)} {t.uuid()} token-{rng.randrange(99)}",
    ]) for _ in range(2500))


MADE = {
    "package-lock.json": package_lock, "yarn.lock": yarn_lock, "Cargo.lock": cargo_lock,
    "go.sum": go_sum, "poetry.lock": poetry_lock, "git log": git_log, "uuids": uuids,
    "data uris": data_uris, "mime": mime, "digests": digests, "hex dump": hex_dump,
    "minified": minified, "svg": svg, "css": css, "source map": source_map,
    "api answer": api_answer, "agent stream": agent_stream, "code about secrets": code_about_secrets,
    "headers and ids": headers_and_ids,
}


def collect(seed):
    rng = random.Random(seed)
    templates = Templates(rng)
    texts = [*python_files(), *headers(), *own_files(), *jquery(), *spoken()]
    texts += [Text(kind, kind, (make(rng, templates) + "\n").encode()) for kind, make in MADE.items()]
    return texts
