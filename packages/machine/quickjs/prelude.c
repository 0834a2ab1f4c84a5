/* The JavaScript part of the guest, in the order in which it is loaded (see load_prelude). */
#include <stdint.h>

struct part {
    const char *name, *text;
    uint32_t length;
};

static const char primordials[] = {
#embed "prelude/primordials.js"
    , 0};
static const char inspect_text[] = {
#embed "prelude/inspect-text.js"
    , 0};
static const char inspect[] = {
#embed "prelude/inspect.js"
    , 0};
static const char console[] = {
#embed "prelude/console.js"
    , 0};
static const char timers[] = {
#embed "prelude/timers.js"
    , 0};
static const char events[] = {
#embed "prelude/events.js"
    , 0};
static const char encoding[] = {
#embed "prelude/encoding.js"
    , 0};
static const char clone[] = {
#embed "prelude/clone.js"
    , 0};
static const char url_parse[] = {
#embed "prelude/url-parse.js"
    , 0};
static const char url[] = {
#embed "prelude/url.js"
    , 0};
static const char files[] = {
#embed "prelude/files.js"
    , 0};
static const char tools[] = {
#embed "prelude/tools.js"
    , 0};
static const char headers[] = {
#embed "prelude/headers.js"
    , 0};
static const char fetch[] = {
#embed "prelude/fetch.js"
    , 0};
static const char intl_locale[] = {
#embed "prelude/intl-locale.js"
    , 0};
static const char intl_number[] = {
#embed "prelude/intl-number.js"
    , 0};
static const char intl_zones[] = {
#embed "prelude/intl-zones.js"
    , 0};
static const char intl_date[] = {
#embed "prelude/intl-date.js"
    , 0};
static const char intl_text[] = {
#embed "prelude/intl-text.js"
    , 0};
static const char prepare[] = {
#embed "prelude/prepare.js"
    , 0};

#define PART(name) {#name, name, sizeof name - 1}
const struct part prelude[] = {
    PART(primordials), PART(inspect_text), PART(inspect), PART(console), PART(timers), PART(events), PART(encoding),
    PART(clone), PART(url_parse), PART(url), PART(files), PART(tools), PART(headers), PART(fetch), PART(intl_locale), PART(intl_number),
    PART(intl_zones), PART(intl_date), PART(intl_text), PART(prepare),
};
const uint32_t prelude_count = sizeof prelude / sizeof *prelude;
