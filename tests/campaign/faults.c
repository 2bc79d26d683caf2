/* LD_PRELOAD: lets one chosen system call on files below one folder fail, of those that a process makes once it is armed.
 *
 * Calls are counted from 1. Each is a line of the log: its name, and "!" before it where it was made to fail.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_FILES = 4096, SHORT = -1, FULL = -2 };

static char folder[4096];
static int site, fault, count, logged = -1;
static char is_ours[MOST_FILES];

void faults_arm(const char *below, int at, int error, int log)
{
    strncpy(folder, below, sizeof folder - 1);
    site = at, fault = error, count = 0, logged = log;
}

static int below(const char *path)
{
    size_t length = strlen(folder);
    return length && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int ours(int fd) { return *folder && fd >= 0 && fd < MOST_FILES && is_ours[fd]; }

static int note(const char *name, int fails)
{
    char line[40] = "!";
    int kept = errno;
    strcat(strncpy(line + fails, name, 30), "\n");
    syscall(SYS_write, logged, line, strlen(line));
    errno = kept;
    return fails;
}

/* Whether this call fails now, with errno. takes_room: it fails on a disk that is full; can_be_short: it can do a part. */
static int fails(const char *name, int takes_room, int can_be_short)
{
    int here = ++count == site;
    if (fault == FULL)
        return note(name, site && count >= site && takes_room) ? (errno = ENOSPC) : 0;
    if (fault == SHORT)
        return note(name, here && can_be_short) ? SHORT : 0;
    return note(name, here) ? (errno = fault) : 0;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_PATH(type, name, failed, room, path, parameters, ...) \
    type name parameters { return below(path) && fails(#name, room, 0) ? failed : NEXT(name)(__VA_ARGS__); }
#define ON_FILE(type, name, failed, room, fd, parameters, ...) \
    type name parameters { return ours(fd) && fails(#name, room, 0) ? failed : NEXT(name)(__VA_ARGS__); }

static int opened(int fd, const char *path)
{
    if (fd >= 0 && fd < MOST_FILES)
        is_ours[fd] = below(path);
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = va_arg(rest, mode_t); \
        va_end(rest); \
        if (below(path) && fails(flags & O_CREAT ? "create" : "open", flags & O_CREAT, 0)) \
            return -1; \
        return opened(NEXT(name)(path, flags, mode), path); \
    }
OPEN(open)
OPEN(open64)

int close(int fd) /* closes it whatever it says, as Linux does */
{
    int failed = ours(fd) && fails("close", 0, 0);
    int error = errno;
    if (fd >= 0 && fd < MOST_FILES)
        is_ours[fd] = 0;
    int status = NEXT(close)(fd);
    if (failed)
        errno = error;
    return failed ? -1 : status;
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    int failed = ours(fd) ? fails("write", 1, 1) : 0;
    return failed == SHORT ? NEXT(write)(fd, bytes, (size + 1) / 2) : failed ? -1 : NEXT(write)(fd, bytes, size);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    int failed = ours(fd) ? fails("read", 0, 1) : 0;
    return failed == SHORT ? NEXT(read)(fd, bytes, (size + 1) / 2) : failed ? -1 : NEXT(read)(fd, bytes, size);
}

ON_FILE(int, fsync, -1, 1, fd, (int fd), fd)
ON_FILE(int, fdatasync, -1, 1, fd, (int fd), fd)
ON_FILE(int, flock, -1, 0, fd, (int fd, int kind), fd, kind)
ON_FILE(int, ftruncate64, -1, 1, fd, (int fd, off64_t size), fd, size)
ON_FILE(off64_t, lseek64, -1, 0, fd, (int fd, off64_t place, int from), fd, place, from)
ON_FILE(int, fstat64, -1, 0, fd, (int fd, struct stat64 *facts), fd, facts)
ON_PATH(int, stat64, -1, 0, path, (const char *path, struct stat64 *facts), path, facts)
ON_PATH(int, lstat64, -1, 0, path, (const char *path, struct stat64 *facts), path, facts)
ON_PATH(int, fstatat64, -1, 0, path, (int fd, const char *path, struct stat64 *facts, int flags), fd, path, facts, flags)
ON_PATH(int, mkdir, -1, 1, path, (const char *path, mode_t mode), path, mode)
ON_PATH(int, unlink, -1, 0, path, (const char *path), path)
ON_PATH(int, rmdir, -1, 0, path, (const char *path), path)
ON_PATH(int, rename, -1, 1, path, (const char *path, const char *to), path, to)
ON_PATH(int, access, -1, 0, path, (const char *path, int mode), path, mode)
ON_PATH(DIR *, opendir, NULL, 0, path, (const char *path), path)
