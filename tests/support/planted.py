# SPDX-License-Identifier: MIT
"""planted.py -- thousands of secrets, each somewhere in a text or on a screen.

Of every rule's examples, and generic ones: passwords and random values next to a name that tells.
Syntaxes and surroundings take turns, so that each meets many rules.
"""

import base64
import itertools
import random
from dataclasses import dataclass

from support.screens import SCREEN
from support.secrets import Templates
from support.split import Case
from support.surroundings import AROUND, FIXED_NAME, SHAPE_SYNTAX, SYNTAX, Marked, fits

NAMES = ["db_password", "password", "passwd", "secret_key", "client_secret", "api_key", "access_token",
         "auth_token", "secret", "encryption_key", "smtp_pass", "admin_password", "jwt_secret",
         "refresh_token", "service_account_key", "redis_password", "signing_secret", "token"]
# Where a shape is enough, the name may say nothing.
ANY_NAMES = NAMES + ["value", "x", "github_token", "key", "credential", "main"]
# Longer ones (a macaroon with a colour for each character) no scanner can hold back for ever.
SPAN_MAX = 3500
NOUNS = """correct horse battery staple river window copper lantern marble thunder velvet orchid
falcon harbor cactus pepper""".split()
KEY_LABELS = ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"]
# How the lines of a private key are set: before the key, between its lines, behind it.
KEY_TEXTS = {
    "file": ("$ cat id\n", "\n", "\n$ \n"),
    "yaml": ("tls.key: |\n    ", "\n    ", "\nname: web\n"),
    "json": ('{"private_key":"', "\\n", '\\n","client_id":"17"}\n'),
    "json twice": ('{"text":"{\\"private_key\\":\\"', "\\\\n", '\\\\n\\"}"}\n'),
    "c string": ('static const char key[] =\n    "', '\\n"\n    "', '\\n";\n'),
    "line numbers": ("     1\t", "\n     2\t", "\n     9\tdone\n"),
    "crlf": ("\r\n", "\r\n", "\r\ndone\r\n"),
}
KEY_SCREENS = {
    "terminal": ("$ cat id\r\n", "\r\n", "\r\n$ "),
    "coloured": ("\x1b[32m", "\x1b[0m\r\n\x1b[32m", "\x1b[0m\r\n$ "),
    "EL": ("", "\x1b[K\r\n", "\x1b[K\r\n$ "),
    "indented": ("  ", "\r\n  ", "\r\n\r\ndone\r\n"),
}


@dataclass
class Planted:
    kind: str  # known, named, generic, key
    rule: str  # "" for generic
    syntax: str
    around: str
    clear_length: int  # what may be seen of it when it is cut off
    secret: str
    case: Case


def passphrase(rng):
    return rng.choice("-_.").join(rng.sample(NOUNS, 2) + [str(rng.randrange(10, 9999))])


def leet(rng):
    word = rng.choice(NOUNS).capitalize().translate(str.maketrans("oaei", "0431"))
    return word + rng.choice("&!#@%*+") + str(rng.randrange(1, 999)) + rng.choice(["", "x", "Q"])


def typed(rng):
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    chars = rng.choices(letters, k=rng.randrange(8, 15)) + rng.choices("!@#%^&*-_+=.", k=2)
    rng.shuffle(chars)
    return rng.choice(letters) + "".join(chars) + rng.choice(letters)


def random_values(rng, templates):
    count = rng.randrange(16, 41)
    return rng.choice([
        lambda: templates.random("hex", count // 2 * 2),
        lambda: templates.random("alnum", count),
        lambda: templates.random("lalnum", count),
        lambda: "x" + templates.random("b64url", count - 2) + "A",
        lambda: base64.b64encode(rng.randbytes(count * 3 // 4)).decode(),
        templates.uuid,
    ])()


def generic_value(rng, templates):
    return rng.choice([lambda: "Tr0ub4dor&3", lambda: "correct-horse-9", lambda: passphrase(rng),
                       lambda: leet(rng), lambda: typed(rng),
                       lambda: random_values(rng, templates),
                       lambda: random_values(rng, templates),
                       lambda: random_values(rng, templates)])()


class Planter:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.templates = Templates(self.rng)
        self.turns = {}

    def next_of(self, table):
        """Its names in turn, in an order of their own."""
        if id(table) not in self.turns:
            names = list(table)
            self.rng.shuffle(names)
            self.turns[id(table)] = itertools.cycle(names)
        return next(self.turns[id(table)])

    def syntax(self, tables, secret):
        while True:
            table = self.rng.choice(tables)
            name = self.next_of(table)
            if fits(name, secret):
                return name, table[name]

    def surround(self, line):
        while True:
            name, case = self.any_surround(line)
            if case.ranges[-1][1] - case.ranges[0][0] <= SPAN_MAX:
                return name, case

    def any_surround(self, line):
        """(name, case): half of them on screens."""
        if self.rng.random() < 0.5:
            name = self.next_of(AROUND)
            marked = AROUND[name](self.rng, line)
            return name, Case(bytes(marked.bytes), marked.ranges)
        name = self.next_of(SCREEN)
        marked, cols = SCREEN[name](self.rng, line)
        # A journal keeps the length; every fourth is an export.
        return name, Case(bytes(marked.bytes), marked.ranges, is_terminal=True, cols=cols,
                          keeps_length=self.rng.random() < 0.75)

    def plant(self, kind, rule, syntax, clear_length, line):
        around, case = self.surround(line)
        return Planted(kind, rule, syntax, around, clear_length, line[1], case)

    def known(self, rule, example):
        line = self.templates.hit(example)
        secret = line[1]
        syntax = "its own"
        if line == ("", secret, ""):
            tables = (SYNTAX, SYNTAX, SHAPE_SYNTAX)
            syntax, make = self.syntax(tables, secret)
            line = make(self.rng.choice(ANY_NAMES), secret)
        return self.plant("named" if rule.is_named else "known", rule.id, syntax,
                          rule.clear_length(secret), line)

    def generic(self):
        secret = generic_value(self.rng, self.templates)
        syntax, make = self.syntax((SYNTAX,), secret)
        name = "password" if syntax in FIXED_NAME else self.rng.choice(NAMES)
        return self.plant("generic", "", syntax, 0, make(name, secret))

    def private_key(self):
        """Its lines are the secret; BEGIN and END tell nothing."""
        is_screen = self.rng.random() < 0.4
        table = KEY_SCREENS if is_screen else KEY_TEXTS
        name = self.next_of(table)
        before, between, behind = table[name]
        label = self.rng.choice(KEY_LABELS)
        lines = [self.templates.random("b64", 64) for _ in range(self.rng.randrange(2, 26))]
        lines.append(self.templates.random("b64", self.rng.randrange(4, 64) // 4 * 4 - 1) + "=")
        out = Marked().add(f"{before}-----BEGIN {label}-----{between}")
        for line in lines:
            out.secret(line).add(between)
        out.add(f"-----END {label}-----{behind}")
        case = Case(bytes(out.bytes), out.ranges, is_terminal=is_screen, keeps_length=is_screen,
                    cols=self.rng.choice((0, 80)) if is_screen else 0)
        return Planted("key", "private-key", "its own", f"key, {name}", 0, "".join(lines), case)


def plant(rules, seed, known, generic):
    """At least so many of each; every example of every rule at least once."""
    planter = Planter(seed)
    examples = [(rule, example) for rule in rules for example in rule.hits]
    rounds = -(-known // len(examples)) if examples else 0
    all_known = [planter.known(*example) for _ in range(rounds) for example in examples]
    keys = [planter.private_key() for _ in range(known // 40)]
    return all_known + keys + [planter.generic() for _ in range(generic)]
