/* A growing run of bytes, for messages and text. Out of memory sets `failed`; it is checked once, at the end. */
#ifndef BYTES_H
#define BYTES_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct bytes {
    uint8_t *data;
    uint32_t length, capacity;
    bool failed;
};

static inline uint8_t *bytes_room(struct bytes *b, uint32_t n) {
    if (b->failed) return NULL;
    if (n > b->capacity - b->length) {
        uint64_t capacity = (uint64_t)b->capacity * 2 + n + 64;
        uint8_t *data = capacity > INT32_MAX ? NULL : realloc(b->data, capacity);
        if (!data) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->capacity = capacity;
    }
    b->length += n;
    return b->data + b->length - n;
}

static inline void bytes_put(struct bytes *b, const void *data, uint32_t n) {
    uint8_t *to = bytes_room(b, n);
    if (to && n) memcpy(to, data, n);
}

static inline void bytes_byte(struct bytes *b, uint8_t byte) { bytes_put(b, &byte, 1); }

static inline void bytes_text(struct bytes *b, const char *text) { bytes_put(b, text, strlen(text)); }

static inline void bytes_free(struct bytes *b) {
    if (b->data) memset(b->data, 0, b->capacity); /* no garbage in snapshots */
    free(b->data);
    memset(b, 0, sizeof(*b));
}
#endif
