/* Values of abi/values.h to and from JavaScript values. */
#ifndef CODEC_H
#define CODEC_H
#include "bytes.h"
#include "quickjs.h"

/* Appends `value`. What does not cross without loss throws a TypeError that names the place, beginning with `root`.
 * Getters, proxies and toJSON of the program run here, once each. */
int encode_value(JSContext *ctx, struct bytes *out, JSValueConst value, const char *root);

void encode_record(struct bytes *out, uint32_t count);
void encode_list_head(struct bytes *out, uint32_t count);
void encode_key(struct bytes *out, const char *key);
void encode_number(struct bytes *out, double number);
void encode_text(struct bytes *out, const char *text, size_t length);
/* A string value; false: out of memory, with an exception pending. */
bool encode_string(JSContext *ctx, struct bytes *out, JSValueConst string);

/* Where the host's bytes are read. A cut or wrong message throws an InternalError. */
struct reader {
    const uint8_t *at, *end;
};
JSValue decode_value(JSContext *ctx, struct reader *in);
#endif
