/* The JavaScript part of the guest, in the order in which it is loaded (see load_prelude). */
#include <stdint.h>

struct part {
    const char *name, *text;
    uint32_t length;
};

static const char core[] = {
#embed "prelude/core.js"
    , 0};

#define ENTRY(name, text) {name, text, sizeof text - 1}
const struct part prelude[] = {
    ENTRY("core.js", core),
};
const uint32_t prelude_count = sizeof prelude / sizeof *prelude;
