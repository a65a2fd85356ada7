# SPDX-License-Identifier: MIT
"""prices_builtin.py IN OUT: the list of prices as bytes in C."""

import sys
from pathlib import Path

text = Path(sys.argv[1]).read_bytes()
rows = [", ".join(str(byte) for byte in text[i:i + 20]) for i in range(0, len(text), 20)]
Path(sys.argv[2]).write_text('#include "turn/prices.h"\n\n'
                             f"const size_t turn_prices_builtin_size = {len(text)};\n"
                             "const char turn_prices_builtin[] = {\n    " + ",\n    ".join(rows) + ", 0,\n};\n")
