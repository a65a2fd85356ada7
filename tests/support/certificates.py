# SPDX-License-Identifier: MIT
"""certificates.py -- authorities and certificates for a test, made by openssl.

    ca = Authority(folder, "good")
    context = ca.server("leaf", "IP:127.0.0.1")   # an ssl.SSLContext for a server
    ca.file                                       # what a client has to trust
"""

import shutil
import ssl
import subprocess

from support.tap import Skip


def openssl(*words, **more):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, **more)


class Authority:
    def __init__(self, folder, name, under=None):
        if not shutil.which("openssl"):
            raise Skip("no openssl")
        self.folder, self.name, self.under, self.count = folder, name, under, 0
        self.file, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        self.make(name, self.file, self.key, under, ["basicConstraints=critical,CA:TRUE", "keyUsage=keyCertSign"])

    def make(self, name, file, key, issuer, extensions, days=2):
        self.count += 1
        request, settings = file.with_suffix(".csr"), file.with_suffix(".ext")
        settings.write_text("\n".join(extensions) + "\n")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                "-subj", f"/CN={name}", "-out", request)
        signed = ["-CA", issuer.file, "-CAkey", issuer.key, "-CAcreateserial"] if issuer else ["-signkey", key]
        openssl("x509", "-req", "-in", request, "-out", file, "-days", days, "-extfile", settings, *signed)

    def server(self, name, alternative, days=2, signed_by_itself=False, with_chain=True):
        """One that proves to be `alternative`: "IP:127.0.0.1", "DNS:localhost"; days=-1: it did, until yesterday."""
        file, key = self.folder / f"{self.name}-{name}.pem", self.folder / f"{self.name}-{name}.key"
        self.make(name, file, key, None if signed_by_itself else self, [f"subjectAltName={alternative}"], days)
        if self.under and with_chain:
            file.write_bytes(file.read_bytes() + self.file.read_bytes())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file, key)
        return context
