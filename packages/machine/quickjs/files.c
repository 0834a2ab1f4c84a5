/* The file functions of the prelude over the WASI file system. Paths arrive absolute. Each failure is an Error with
 * `code`, like "ENOENT". */
#include "guest.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *code_of(int error) {
    switch (error) {
    case ENOENT: return "ENOENT";
    case EEXIST: return "EEXIST";
    case ENOTDIR: return "ENOTDIR";
    case EISDIR: return "EISDIR";
    case ENOTEMPTY: return "ENOTEMPTY";
    case ENOSPC: return "ENOSPC";
    case EACCES: return "EACCES";
    case EROFS: return "EROFS";
    default: return "EIO";
    }
}

static JSValue fail(JSContext *ctx, const char *path) {
    int error = errno;
    JSValue made = JS_NewPlainError(ctx, "%s: %s, '%s'", code_of(error), strerror(error), path);
    JS_DefinePropertyValueStr(ctx, made, "code", JS_NewString(ctx, code_of(error)), JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(ctx, made, "path", JS_NewString(ctx, path), JS_PROP_C_W_E);
    return JS_Throw(ctx, made);
}

static JSValue read_all(JSContext *ctx, const char *path) {
    struct bytes data = {0};
    int fd = open(path, O_RDONLY);
    if (fd < 0) return fail(ctx, path);
    for (;;) {
        uint8_t *room = bytes_room(&data, 65536);
        ssize_t n = room ? read(fd, room, 65536) : 0;
        data.length -= room ? 65536 - (n > 0 ? n : 0) : 0;
        if (n > 0) continue;
        JSValue result = n < 0 ? fail(ctx, path) : data.failed ? JS_ThrowOutOfMemory(ctx) : JS_NewUint8ArrayCopy(ctx, data.data, data.length);
        close(fd);
        bytes_free(&data);
        return result;
    }
}

static JSValue write_all(JSContext *ctx, const char *path, JSValueConst value, bool append) {
    const uint8_t *bytes;
    size_t length;
    if (!engine_bytes(ctx, value, &bytes, &length)) return JS_ThrowTypeError(ctx, "a string or bytes are needed");
    int fd = open(path, O_WRONLY | O_CREAT | (append ? O_APPEND : O_TRUNC), 0644);
    if (fd < 0) return fail(ctx, path);
    JSValue result = JS_UNDEFINED;
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n <= 0) {
            result = fail(ctx, path);
            break;
        }
        bytes += n;
        length -= n;
    }
    close(fd);
    return result;
}

static JSValue list_names(JSContext *ctx, const char *path) {
    DIR *folder = opendir(path);
    struct dirent *entry;
    uint32_t n = 0;
    if (!folder) return fail(ctx, path);
    JSValue names = JS_NewArray(ctx);
    while ((entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            JS_DefinePropertyValueUint32(ctx, names, n++, JS_NewString(ctx, entry->d_name), JS_PROP_C_W_E);
    closedir(folder);
    return names;
}

/* [is a folder, size, modified in ms]; undefined where nothing is. */
static JSValue status_of(JSContext *ctx, const char *path) {
    struct stat status;
    if (stat(path, &status) < 0) return errno == ENOENT || errno == ENOTDIR ? JS_UNDEFINED : fail(ctx, path);
    JSValue parts[] = {JS_NewBool(ctx, S_ISDIR(status.st_mode)), JS_NewInt64(ctx, status.st_size), JS_NewFloat64(ctx, status.st_mtim.tv_sec * 1e3)};
    return JS_NewArrayFrom(ctx, 3, parts);
}

static JSValue with_path(JSContext *ctx, JSValueConst *argv, int what) {
    const char *path = JS_ToCString(ctx, argv[0]);
    JSValue result = JS_UNDEFINED;
    if (!path) return JS_EXCEPTION;
    switch (what) {
    case 'r': result = read_all(ctx, path); break;
    case 'w': result = write_all(ctx, path, argv[1], false); break;
    case 'a': result = write_all(ctx, path, argv[1], true); break;
    case 'l': result = list_names(ctx, path); break;
    case 's': result = status_of(ctx, path); break;
    case 'u': if (unlink(path) < 0) result = fail(ctx, path); break;
    case 'd': if (rmdir(path) < 0) result = fail(ctx, path); break;
    case 'm': if (mkdir(path, 0755) < 0) result = fail(ctx, path); break;
    }
    JS_FreeCString(ctx, path);
    return result;
}

static JSValue files_function(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int what) { return with_path(ctx, argv, what); }

int files_add(JSContext *ctx, JSValue natives) {
    static const struct {
        const char *name;
        int what;
    } all[] = {{"readFile", 'r'}, {"writeFile", 'w'}, {"appendFile", 'a'}, {"listFolder", 'l'},
               {"fileStatus", 's'}, {"removeFile", 'u'}, {"removeFolder", 'd'}, {"makeFolder", 'm'}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        JSValue function = JS_NewCFunctionMagic(ctx, files_function, all[i].name, 2, JS_CFUNC_generic_magic, all[i].what);
        if (JS_SetPropertyStr(ctx, natives, all[i].name, function) < 0) return -1;
    }
    return 0;
}
