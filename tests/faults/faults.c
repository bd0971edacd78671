/* Preloaded into the program: makes one call of the C library fail, or kills the process before it, as environment variables
 * of tests/faults.rs say. Only calls on files below FAULT_DIR count.
 *
 *   FAULT_DIR    the folder, as an absolute path without links
 *   FAULT_CALL   write, open (to create or write), rename, fsync, mkdir, chmod, unlink, rmdir, or all
 *   FAULT_AT     the number of the call, from 1; 0 only counts
 *   FAULT_KIND   ENOSPC, EIO, EINTR, EACCES, short (a write of half the bytes), kill (SIGKILL before the call)
 *   FAULT_STAYS  1: all later calls fail, too, as on a full disk
 *   FAULT_LOG    a file outside FAULT_DIR that gets a line when the call is reached
 *   FAULT_CLOCK  seconds by which CLOCK_REALTIME goes back with each call
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int calls;

static int below(const char *path) {
    const char *folder = getenv("FAULT_DIR");
    size_t length = folder ? strlen(folder) : 0;
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int names(int at, const char *path) {
    char base[PATH_MAX], whole[2 * PATH_MAX];
    if (path[0] == '/')
        return below(path);
    if (at == AT_FDCWD) {
        if (!getcwd(base, sizeof base))
            return 0;
    } else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t length = readlink(link, base, sizeof base - 1);
        if (length < 0)
            return 0;
        base[length] = 0;
    }
    snprintf(whole, sizeof whole, "%s/%s", base, path);
    return below(whole);
}

static int is_file(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return below(path);
}

enum { NOTHING, FAIL, SHORT };

/* Counts a call and decides its outcome. */
static int fate(const char *call) {
    const char *wanted = getenv("FAULT_CALL"), *kind = getenv("FAULT_KIND"), *at = getenv("FAULT_AT");
    if (!wanted || !kind || !at || (strcmp(wanted, "all") && strcmp(wanted, call)))
        return NOTHING;
    int number = __sync_add_and_fetch(&calls, 1), stays = getenv("FAULT_STAYS") != NULL;
    if (!atoi(at) || number < atoi(at) || (number > atoi(at) && !stays))
        return NOTHING;
    const char *log = getenv("FAULT_LOG");
    if (log && number == atoi(at)) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
        syscall(SYS_write, fd, call, strlen(call));
        syscall(SYS_close, fd);
    }
    if (!strcmp(kind, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(kind, "short"))
        return SHORT;
    errno = !strcmp(kind, "ENOSPC") ? ENOSPC : !strcmp(kind, "EIO") ? EIO : !strcmp(kind, "EINTR") ? EINTR : EACCES;
    return FAIL;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t count) {
    int what = is_file(fd) ? fate("write") : NOTHING;
    if (what == FAIL)
        return -1;
    return REAL(write)(fd, bytes, what == SHORT && count > 1 ? count / 2 : count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    int what = is_file(fd) ? fate("write") : NOTHING;
    if (what == FAIL)
        return -1;
    if (what == SHORT && count > 0)
        return REAL(write)(fd, parts[0].iov_base, parts[0].iov_len);
    return REAL(writev)(fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    int what = is_file(fd) ? fate("write") : NOTHING;
    if (what == FAIL)
        return -1;
    return REAL(pwrite64)(fd, bytes, what == SHORT && count > 1 ? count / 2 : count, offset);
}

static int opens(int at, const char *path, int flags) {
    return (flags & (O_CREAT | O_WRONLY | O_RDWR)) && names(at, path) && fate("open") == FAIL;
}

int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opens(AT_FDCWD, path, flags) ? -1 : REAL(open64)(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opens(AT_FDCWD, path, flags) ? -1 : REAL(open)(path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return opens(at, path, flags) ? -1 : REAL(openat64)(at, path, flags, mode);
}

int rename(const char *from, const char *to) {
    return names(AT_FDCWD, to) && fate("rename") == FAIL ? -1 : REAL(rename)(from, to);
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
    return names(to_at, to) && fate("rename") == FAIL ? -1 : REAL(renameat)(from_at, from, to_at, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    return names(to_at, to) && fate("rename") == FAIL ? -1 : REAL(renameat2)(from_at, from, to_at, to, flags);
}

int fsync(int fd) { return is_file(fd) && fate("fsync") == FAIL ? -1 : REAL(fsync)(fd); }

int fdatasync(int fd) { return is_file(fd) && fate("fsync") == FAIL ? -1 : REAL(fdatasync)(fd); }

int mkdir(const char *path, mode_t mode) { return names(AT_FDCWD, path) && fate("mkdir") == FAIL ? -1 : REAL(mkdir)(path, mode); }

int chmod(const char *path, mode_t mode) { return names(AT_FDCWD, path) && fate("chmod") == FAIL ? -1 : REAL(chmod)(path, mode); }

int fchmod(int fd, mode_t mode) { return is_file(fd) && fate("chmod") == FAIL ? -1 : REAL(fchmod)(fd, mode); }

int unlink(const char *path) { return names(AT_FDCWD, path) && fate("unlink") == FAIL ? -1 : REAL(unlink)(path); }

int rmdir(const char *path) { return names(AT_FDCWD, path) && fate("rmdir") == FAIL ? -1 : REAL(rmdir)(path); }

int unlinkat(int at, const char *path, int flags) {
    return names(at, path) && fate(flags & AT_REMOVEDIR ? "rmdir" : "unlink") == FAIL ? -1 : REAL(unlinkat)(at, path, flags);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int asked;
    int result = REAL(clock_gettime)(clock, now);
    const char *back = getenv("FAULT_CLOCK");
    if (back && clock == CLOCK_REALTIME)
        now->tv_sec -= (time_t)strtoll(back, NULL, 10) * __sync_add_and_fetch(&asked, 1);
    return result;
}
