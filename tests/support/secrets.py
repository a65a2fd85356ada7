# SPDX-License-Identifier: MIT
"""secrets.py -- the scanner's rule file, and secrets made from its examples.

An example holds templates in place of random values (`ghp_<alnum*30><crc32>`); Templates fills them
from a random generator, so that each seed gives secrets that no one ever had.
"""

import base64
import re
import string
import uuid
import zlib
from dataclasses import dataclass, field

B62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
B32 = string.ascii_uppercase + "234567"
BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
CLASSES = {
    "digit": string.digits,
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "hex": string.digits + "abcdef",
    "HEX": string.digits + "ABCDEF",
    "alnum": string.ascii_letters + string.digits,
    "lalnum": string.ascii_lowercase + string.digits,
    "ualnum": string.ascii_uppercase + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "b64url": string.ascii_letters + string.digits + "_-",
    "b32": B32,
    "b58": "".join(c for c in string.ascii_letters + string.digits if c not in "0OIl"),
}
TEMPLATE = re.compile(
    rf"<(?:({'|'.join(CLASSES)})\*(\d+)|(uuid|crc32|stellar)|(b64url|b64):([^>]*)"
    r"|bech32:([^*>]+)\*(\d+))>")


@dataclass
class Rule:
    id: str
    keys: dict = field(default_factory=dict)  # key -> its values, a line each
    hits: list = field(default_factory=list)
    misses: list = field(default_factory=list)

    @property
    def keywords(self):
        return " ".join(self.keys.get("keywords", [])).split()

    @property
    def is_named(self):
        """Known by the name that the value is assigned to, not by its shape."""
        return "names" in self.keys

    def clear_length(self, secret):
        """How much of it may be seen before anything tells a secret: its keyword."""
        return max((len(k) for k in self.keywords if secret.startswith(k)), default=0)


def read_rules(path):
    rules = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            key, _, value = line.partition(" ")
            value = value.strip()
            if key == "rule":
                rules.append(Rule(value))
            elif not rules:
                raise ValueError(f"{path}:{number}: no rule yet")
            elif key == "hit":
                rules[-1].hits.append(value)
            elif key == "miss":
                rules[-1].misses.append(value)
            else:
                rules[-1].keys.setdefault(key, []).append(value)
    return rules


def base62_crc32(text):
    rest, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        rest, digit = divmod(rest, 62)
        digits = B62[digit] + digits
    return digits


def bech32_checksum(hrp, data):
    """Of BIP 173: six more values of five bits."""
    check = 1
    values = [ord(c) >> 5 for c in hrp] + [0] + [ord(c) & 31 for c in hrp] + data + [0] * 6
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for bit, mask in enumerate((0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)):
            if top >> bit & 1:
                check ^= mask
    check ^= 1
    return [check >> 5 * (5 - i) & 31 for i in range(6)]


def crc16_xmodem(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


class Templates:
    def __init__(self, rng):
        self.rng = rng

    def random(self, name, count):
        return "".join(self.rng.choices(CLASSES[name], k=count))

    def uuid(self):
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def bech32(self, hrp, count):
        data = [self.rng.randrange(32) for _ in range(count)]
        low = hrp.lower()
        text = low + "1" + "".join(BECH32[v] for v in data + bech32_checksum(low, data))
        return text.upper() if hrp.isupper() else text

    def stellar(self):
        seed = bytes([18 << 3]) + self.rng.randbytes(32)
        return base64.b32encode(seed + crc16_xmodem(seed).to_bytes(2, "little")).decode()

    def expand(self, text):
        last = ""

        def fill(match):
            nonlocal last
            name, count, plain, coding, literal, hrp, length = match.groups()
            if plain == "crc32":
                return base62_crc32(last)
            if coding == "b64url":
                return base64.urlsafe_b64encode(literal.encode()).decode().rstrip("=")
            if coding == "b64":
                return base64.b64encode(literal.encode()).decode()
            if plain == "uuid":
                last = self.uuid()
            elif plain == "stellar":
                last = self.stellar()
            elif hrp:
                last = self.bech32(hrp, int(length))
            else:
                last = self.random(name, int(count))
            return last

        return TEMPLATE.sub(fill, text)

    def hit(self, text):
        """(prefix, secret, suffix) of an example."""
        text = self.expand(text)
        if "[[" not in text:
            return "", text, ""
        prefix, _, rest = text.partition("[[")
        secret, mark, suffix = rest.partition("]]")
        if not mark or "[[" in suffix:
            raise ValueError(f"no single [[secret]]: {text}")
        return prefix, secret, suffix
