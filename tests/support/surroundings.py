# SPDX-License-Identifier: MIT
"""surroundings.py -- where a secret may stand in text: a line of some language, then what is around.

A line is (prefix, secret, suffix). SYNTAX makes one from a bare secret and the name that it goes by;
AROUND sets any line into a text. Terminals have a file of their own, screens.py.
"""

import json
import re

WORDS = """the build ran for a while and then it stopped because of what was left in cache so we look
at every file again before anyone else may write there which takes longer than it did last week but
nothing else has changed since""".split()
BEFORE = ["Reading state information...", "Done", "ok 12 - a test", "", "total 48", "$ ls -la",
          "drwxr-xr-x 2 root root 4096 May  3 10:12 src", "make: Nothing to be done for 'all'."]


def prose(rng, count):
    return " ".join(rng.choices(WORDS, k=count))


def lines_around(rng):
    return rng.choice(BEFORE), rng.choice(BEFORE)


# -- syntax: a line of some language that holds the value --

def camel(name):
    parts = re.split(r"[_\-. ]", name.lower())
    return parts[0] + "".join(p.capitalize() for p in parts[1:])


def pascal(name):
    return camel(name)[:1].upper() + camel(name)[1:]


def upper(name):
    return re.sub(r"[\-. ]", "_", name).upper()


def snake(name):
    return upper(name).lower()


def kebab(name):
    return snake(name).replace("_", "-")


def shell_word(secret):
    return re.fullmatch(r"[\w./:=@%+,-]+", secret) is not None


def quoted_if_needed(before, secret, after):
    return (before, secret, after) if shell_word(secret) else (before + "'", secret, "'" + after)


SYNTAX = {
    "env": lambda n, s: (f"{upper(n)}=", s, ""),
    "env export": lambda n, s: quoted_if_needed(f"export {upper(n)}=", s, ""),
    "env double quotes": lambda n, s: (f'export {upper(n)}="', s, '"'),
    "env single quotes": lambda n, s: (f"{upper(n)}='", s, "'"),
    "env before a command": lambda n, s: quoted_if_needed(f"{upper(n)}=", s, " ./run.sh --all"),
    "json member": lambda n, s: (f'  "{snake(n)}": "', s, '",'),
    "json compact": lambda n, s: (f'{{"id":17,"{camel(n)}":"', s, '","ok":true}'),
    "c": lambda n, s: (f'static const char *{snake(n)} = "', s, '";'),
    "c define": lambda n, s: (f'#define {upper(n)} "', s, '"'),
    "python": lambda n, s: (f'{snake(n)} = "', s, '"'),
    "python dict": lambda n, s: (f"    config = {{'{snake(n)}': '", s, "', 'port': 5432}"),
    "python argument": lambda n, s: (f'client = connect("db.example.com", {snake(n)}="', s, '")'),
    "python environ": lambda n, s: (f'os.environ["{upper(n)}"] = "', s, '"'),
    "js": lambda n, s: (f"const {camel(n)} = '", s, "';"),
    "js object": lambda n, s: (f"  {camel(n)}: '", s, "',"),
    "js environment": lambda n, s: (f'process.env.{upper(n)} = "', s, '"'),
    "js template": lambda n, s: (f"  {camel(n)}: `", s, "`,"),
    "go": lambda n, s: (f'\t{camel(n)} := "', s, '"'),
    "go field": lambda n, s: (f'\t\t{pascal(n)}:   "', s, '",'),
    "php": lambda n, s: (f"    '{snake(n)}' => '", s, "',"),
    "ruby": lambda n, s: (f'  :{snake(n)} => "', s, '",'),
    "setter": lambda n, s: (f'options.set{pascal(n)}("', s, '");'),
    "yaml": lambda n, s: (f"  {snake(n)}: ", s, ""),
    "yaml quoted": lambda n, s: (f'  {camel(n)}: "', s, '"'),
    "toml": lambda n, s: (f'{snake(n)} = "', s, '"'),
    "ini": lambda n, s: (f"{kebab(n)}={''}", s, ""),
    "properties": lambda n, s: (f"spring.datasource.{kebab(n)}=", s, ""),
    "shell flag": lambda n, s: quoted_if_needed(f"$ deploy --{kebab(n)} ", s, " --verbose"),
    "shell flag equals": lambda n, s: quoted_if_needed(f"$ deploy --{kebab(n)}=", s, " --verbose"),
    "shell flag quoted": lambda n, s: (f'deploy --{kebab(n)} "', s, '" prod'),
    "curl header": lambda n, s: (f'curl -sS -H "X-{kebab(n)}: ', s, '" https://api.example.com/v1'),
    "curl bearer": lambda n, s: ('curl -H "Authorization: Bearer ', s, '" https://api.example.com/'),
    "curl data": lambda n, s: (f'curl -d \'{{"{snake(n)}":"', s, "\"}' https://api.example.com/"),
    "curl query": lambda n, s: (f"GET /v1/items?limit=10&{snake(n)}=", s, "&page=2 HTTP/1.1"),
    "http header": lambda n, s: ("Authorization: Bearer ", s, ""),
    "dockerfile": lambda n, s: quoted_if_needed(f"ENV {upper(n)}=", s, ""),
    "dockerfile old": lambda n, s: (f"ENV {upper(n)} ", s, ""),
    "docker run": lambda n, s: quoted_if_needed(f"docker run --rm -e {upper(n)}=", s, " app:latest"),
    "git remote": lambda n, s: ("origin\thttps://oauth2:", s, "@git.example.com/a/b.git (fetch)"),
    "database url": lambda n, s: ("DATABASE_URL=postgres://app:", s, "@db.example.com:5432/app"),
    "xml": lambda n, s: (f"    <{camel(n)}>", s, f"</{camel(n)}>"),
    "sql": lambda n, s: ("ALTER USER app WITH PASSWORD '", s, "';"),
    "log": lambda n, s: (f"2026-03-01T10:00:00Z DEBUG config: {snake(n)}=", s, " retries=3"),
    "prompt": lambda n, s: (f"{pascal(n)}: ", s, ""),
    "terraform": lambda n, s: (f'  {snake(n)}     = "', s, '"'),
    "powershell": lambda n, s: (f'$env:{upper(n)} = "', s, '"'),
    "diff": lambda n, s: (f"+{upper(n)}=", s, ""),
}
# Values without a name: only a shape can tell these.
SHAPE_SYNTAX = {
    "prose": lambda n, s: ("I found ", s, " in the history, please rotate it."),
    "prose end": lambda n, s: ("It was leaked in the log as ", s, "."),
    "prose brackets": lambda n, s: ("the old value (", s, ") is still there"),
    "prose quotes": lambda n, s: ("grep found '", s, "' in two files"),
    "markdown": lambda n, s: ("- use `", s, "` for the staging host"),
    "code argument": lambda n, s: ('client = Client("', s, '")'),
    "list": lambda n, s: ('values = ["a", "', s, '", "b"]'),
    "csv": lambda n, s: ("17,alice,", s, ",2026-03-01"),
    "alone": lambda n, s: ("", s, ""),
    "grep": lambda n, s: ("src/config.py:17:", s, ""),
}
# A value in a URL has to be free of what ends it there.
URL_SYNTAX = {"git remote", "database url", "curl query"}
# Names that these bring along are fixed, or there is none that tells.
FIXED_NAME = {"curl bearer", "http header", "git remote", "database url", "sql"}


def fits(syntax, secret):
    if syntax in URL_SYNTAX:
        return re.fullmatch(r"[\w.~-]+", secret) is not None
    if syntax in ("http header", "curl bearer"):
        return re.fullmatch(r"[\w.~+/-]+=*", secret) is not None
    if syntax == "xml":
        return "&" not in secret
    return True


# -- around: any line inside of a text --

class Marked:
    """Bytes, and which of them are the secret."""

    def __init__(self):
        self.bytes = bytearray()
        self.ranges = []

    def add(self, text):
        self.bytes += text.encode() if isinstance(text, str) else text
        return self

    def secret(self, text):
        start = len(self.bytes)
        self.add(text)
        if self.ranges and self.ranges[-1][1] == start:
            self.ranges[-1] = (self.ranges[-1][0], len(self.bytes))
        else:
            self.ranges.append((start, len(self.bytes)))
        return self

    def line(self, line, escape=lambda text: text):
        prefix, secret, suffix = line
        return self.add(escape(prefix)).secret(escape(secret)).add(escape(suffix))


def escaped(text, times=1):
    for _ in range(times):
        text = json.dumps(text)[1:-1]
    return text


def plain(rng, line, end="\n"):
    before, after = lines_around(rng)
    return Marked().add(before + end).line(line).add(end + after + end)


def in_prose(rng, line):
    return (Marked().add(f"{prose(rng, 12)}.\n{prose(rng, 6).capitalize()}:\n\n    ").line(line)
            .add(f"\n\n{prose(rng, 10)}.\n"))


def last_line(rng, line):
    return Marked().add(prose(rng, 5) + "\n").line(line)


def pretty_json(rng, line):
    out = Marked().add('{\n  "id": 17,\n  "tags": ["a", "b"],\n  "text": "')
    return out.line(line, escaped).add('",\n  "done": true\n}\n')


def compact_json(rng, line):
    out = Marked().add('{"id":17,"lines":["' + escaped(rng.choice(BEFORE)) + '","')
    return out.line(line, escaped).add('"],"more":false}')


def tool_result(rng, line):
    before, after = lines_around(rng)
    out = Marked().add('{"type":"user","message":{"role":"user","content":[{"type":"tool_result",'
                       f'"tool_use_id":"toolu_01{rng.randbytes(8).hex()}","content":"')
    out.add(escaped(before + "\n")).line(line, escaped).add(escaped("\n" + after + "\n"))
    return out.add('","is_error":false}]}}\n{"type":"result","subtype":"success"}\n')


def tool_use(rng, line):
    out = Marked().add('{"type":"tool_use","name":"Bash","input":{"command":"')
    return out.line(line, escaped).add('","description":"Run it"}}\n')


def doubly_escaped(rng, line):
    before, after = lines_around(rng)
    out = Marked().add('{"type":"stream_event","event":{"partial_json":"{\\"command\\": \\"')
    out.add(escaped(before + "\n", 2)).line(line, lambda text: escaped(text, 2))
    return out.add(escaped("\n" + after + "\n", 2)).add('\\"}"}}\n')


def in_heredoc(rng, line):
    return Marked().add("cat > .env <<'EOF'\n").line(line).add("\nEOF\nchmod 600 .env\n")


def in_comment(rng, line):
    return Marked().add("int main(void)\n{\n    // ").line(line).add("\n    return 0;\n}\n")


def crlf_text(rng, line):
    return plain(rng, line, "\r\n")


AROUND = {
    "plain": plain,
    "prose": in_prose,
    "last line": last_line,
    "json pretty": pretty_json,
    "json compact": compact_json,
    "ndjson": tool_result,
    "ndjson command": tool_use,
    "json twice": doubly_escaped,
    "heredoc": in_heredoc,
    "comment": in_comment,
    "crlf": crlf_text,
}
