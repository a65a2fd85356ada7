/* SPDX-License-Identifier: MIT */
#include "redact/check_priv.h"

#include "redact/bytes_priv.h"

static int
digit_of(const char *alphabet, uint8_t c)
{
    const char *at = c ? strchr(alphabet, c) : NULL;
    return at ? (int)(at - alphabet) : -1;
}

/* -- GitHub, npm: the last six characters are the CRC-32 of the thirty before, in base 62
 * -- */

static uint32_t
crc32(struct view v)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < v.n; i++) {
        crc ^= v.p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static bool
has_crc32_base62(struct view v)
{
    enum { BODY = 30, SUM = 6 };
    static const char alphabet[] =
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    if (v.n < BODY + SUM)
        return false;
    uint64_t sum = 0;
    for (size_t i = v.n - SUM; i < v.n; i++) {
        int d = digit_of(alphabet, v.p[i]);
        if (d < 0)
            return false;
        sum = sum * 62 + (uint64_t)d;
    }
    return sum == crc32((struct view){ v.p + v.n - BODY - SUM, BODY });
}

/* -- age, nostr: BIP 173 -- */

static uint32_t
bech32_step(uint32_t sum, uint32_t value)
{
    static const uint32_t poly[] = { 0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd,
                                     0x2a1462b3 };
    uint32_t top = sum >> 25;
    sum = (sum & 0x1ffffff) << 5 ^ value;
    for (int i = 0; i < 5; i++)
        sum ^= top >> i & 1 ? poly[i] : 0;
    return sum;
}

static bool
has_bech32(struct view v)
{
    static const char alphabet[] = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    size_t one = v.n;
    while (one && v.p[one - 1] != '1')
        one--;
    if (one < 2 || v.n - one < 6)
        return false;
    size_t human = one - 1;
    uint32_t sum = 1;
    for (size_t i = 0; i < human; i++)
        sum = bech32_step(sum, byte_lower(v.p[i]) >> 5);
    sum = bech32_step(sum, 0);
    for (size_t i = 0; i < human; i++)
        sum = bech32_step(sum, byte_lower(v.p[i]) & 31);
    for (size_t i = one; i < v.n; i++) {
        int d = digit_of(alphabet, byte_lower(v.p[i]));
        if (d < 0)
            return false;
        sum = bech32_step(sum, (uint32_t)d);
    }
    return sum == 1;
}

/* -- Stellar: base 32 of a version byte, 32 bytes and their CRC-16 -- */

static bool
has_crc16_base32(struct view v)
{
    enum { CHARS = 56, BYTES = 35 };
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    uint8_t bytes[BYTES];
    uint32_t bits = 0, n_bits = 0, crc = 0;
    size_t n = 0;
    if (v.n != CHARS)
        return false;
    for (size_t i = 0; i < CHARS; i++) {
        int d = digit_of(alphabet, v.p[i]);
        if (d < 0)
            return false;
        bits = bits << 5 | (uint32_t)d;
        n_bits += 5;
        if (n_bits >= 8) {
            n_bits -= 8;
            bytes[n++] = (uint8_t)(bits >> n_bits);
        }
    }
    for (size_t i = 0; i < BYTES - 2; i++) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0);
        crc &= 0xffff;
    }
    return crc == (uint32_t)(bytes[BYTES - 2] | bytes[BYTES - 1] << 8);
}

/* -- JSON Web Token: the first part is a JSON object that names an algorithm -- */

static bool
is_jwt(struct view v)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char head[512];
    size_t n = 0;
    uint32_t bits = 0, n_bits = 0;
    for (size_t i = 0; i < v.n && v.p[i] != '.' && n < sizeof(head); i++) {
        int d = digit_of(alphabet, v.p[i]);
        if (d < 0)
            return false;
        bits = bits << 6 | (uint32_t)d;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            head[n++] = (char)(uint8_t)(bits >> n_bits);
        }
    }
    return n > 2 && head[0] == '{' && memmem(head, n, "\"alg\"", 5);
}

enum check_result
check_secret(enum pack_check check, struct view secret)
{
    bool is_right = false;
    switch (check) {
    case PACK_CHECK_CRC32_BASE62:
        is_right = has_crc32_base62(secret);
        break;
    case PACK_CHECK_BECH32:
        is_right = has_bech32(secret);
        break;
    case PACK_CHECK_CRC16_BASE32:
        is_right = has_crc16_base32(secret);
        break;
    case PACK_CHECK_JWT:
        is_right = is_jwt(secret);
        break;
    case PACK_CHECK_NONE:
    case PACK_CHECK_PASSWORD:
    case PACK_CHECK_SECRET:
    case PACK_CHECKS:
        return CHECK_UNKNOWN;
    }
    return is_right ? CHECK_RIGHT : CHECK_WRONG;
}
