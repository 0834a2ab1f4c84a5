/* Values between guest and host: one tag byte, then the payload. All integers little-endian; `varint` is LEB128.
 *
 *   00 undefined                        06 string: varint bytes, UTF-8 in which a lone surrogate stands as its 3 bytes (WTF-8)
 *   01 null                             07 bytes: varint bytes
 *   02 false        03 true             08 list: varint count, values
 *   04 double: 8 bytes                  09 record: varint count, (varint bytes key, value) in order
 *   05 integer: varint bytes of         0a map: varint count, (value, value)
 *      decimal digits, '-' before       0b set: varint count, values
 *                                       0c instant: double, milliseconds since 1970 UTC
 *
 * An integer of absolute value up to 2^53-1 travels as 04 from JavaScript and Python alike (Python reads an integral
 * 04 other than -0 back as int); larger ones, and any BigInt, travel as 05. Depth is at most 200 levels.
 */
#ifndef FERMATA_VALUES_H
#define FERMATA_VALUES_H
enum {
  FV_UNDEFINED = 0, FV_NULL = 1, FV_FALSE = 2, FV_TRUE = 3, FV_DOUBLE = 4, FV_INTEGER = 5, FV_STRING = 6,
  FV_BYTES = 7, FV_LIST = 8, FV_RECORD = 9, FV_MAP = 10, FV_SET = 11, FV_INSTANT = 12,
};
#define FV_MAX_DEPTH 200
/* A message holds values a few levels down. */
#define FV_MAX_MESSAGE_DEPTH (FV_MAX_DEPTH + 8)
#endif
