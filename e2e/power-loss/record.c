/*
 * Records what a process does to the files below one folder: loaded with LD_PRELOAD, it writes one record per call to a
 * log. `recording.ts` compiles it and reads the log.
 *
 *  1. A call that changes a file or a folder is made and logged under one lock, so the log has the order of the changes.
 *  2. A sync is logged when it begins and when it has returned; the lock is free in between.
 *  3. A write to the file POWER_MARKS is logged as a mark and not as a change.
 *  4. A call that could change a recorded file in a way that is not logged ends up in the log as `UNKNOWN`, which
 *     `recording.ts` refuses. Writable mappings of `-shm` files are left out: SQLite rebuilds such a file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE, SYNC_BEGIN, SYNC_END, CREATE, MKDIR, RENAME, UNLINK, RMDIR, MARK, UNKNOWN };
enum { NOT_RECORDED = 0, RECORDED, MARKS };

struct header {
  uint32_t type;
  uint32_t text_length; /* a path, or two with NUL between them */
  uint64_t inode;
  uint64_t offset; /* of a write; the length of a truncation; the number of a sync */
  uint64_t data_length;
};

#define MAX_FDS 65536
static unsigned char kinds[MAX_FDS];
static ino_t inodes[MAX_FDS];
static dev_t devices[MAX_FDS];
static unsigned char is_shm[MAX_FDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static const char *folder, *marks;
static size_t folder_length;
static uint64_t syncs;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
  folder = getenv("POWER_FOLDER");
  marks = getenv("POWER_MARKS");
  const char *log = getenv("POWER_LOG");
  if (folder == NULL || marks == NULL || log == NULL) return;
  folder_length = strlen(folder);
  log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    long written = syscall(SYS_write, log_fd, at, length);
    if (written <= 0) abort(); /* a record with a gap proves nothing */
    at += written;
    length -= written;
  }
}

static void note(uint32_t type, uint64_t inode, uint64_t offset, const char *text, size_t text_length, const void *data,
                 size_t data_length) {
  struct header header = {type, text_length, inode, offset, data_length};
  put(&header, sizeof header);
  if (text_length > 0) put(text, text_length);
  if (data_length > 0) put(data, data_length);
}

static void note_path(uint32_t type, uint64_t inode, const char *path) { note(type, inode, 0, path, strlen(path), "", 0); }

static int is_below(const char *path) {
  return log_fd >= 0 && path != NULL && strncmp(path, folder, folder_length) == 0 &&
         (path[folder_length] == '/' || path[folder_length] == 0);
}

/* libuv closes descriptors without the C library's `close`; so a number may stand for another file by now. */
static int kind_of(int fd) {
  if (fd < 0 || fd >= MAX_FDS || kinds[fd] == NOT_RECORDED) return NOT_RECORDED;
  struct stat found;
  if (fstat(fd, &found) != 0 || found.st_ino != inodes[fd] || found.st_dev != devices[fd]) kinds[fd] = NOT_RECORDED;
  return kinds[fd];
}

static uint64_t inode_of(int fd) {
  struct stat found;
  return fstat(fd, &found) == 0 ? found.st_ino : 0;
}

static int open_recorded(int at, const char *path, int flags, mode_t mode) {
  int kind = log_fd >= 0 && strcmp(path, marks) == 0 ? MARKS : is_below(path) ? RECORDED : NOT_RECORDED;
  if (kind == NOT_RECORDED) return syscall(SYS_openat, at, path, flags, mode);
  pthread_mutex_lock(&lock);
  struct stat before;
  int existed = lstat(path, &before) == 0;
  int fd = syscall(SYS_openat, at, path, flags, mode);
  int error = errno;
  if (fd >= MAX_FDS) abort();
  if (fd >= 0) {
    size_t length = strlen(path);
    is_shm[fd] = length > 4 && strcmp(path + length - 4, "-shm") == 0;
    kinds[fd] = kind;
    inodes[fd] = fstat(fd, &before) == 0 ? before.st_ino : 0;
    devices[fd] = before.st_dev;
    if (kind == RECORDED && !existed) note_path(CREATE, inode_of(fd), path);
    if (kind == RECORDED && existed && (flags & O_TRUNC)) note(TRUNCATE, inode_of(fd), 0, "", 0, "", 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

static mode_t mode_in(int flags, va_list list) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; }

#define OPEN(name, signature, at)                \
  int name signature {                           \
    va_list list;                                \
    va_start(list, flags);                       \
    mode_t mode = mode_in(flags, list);          \
    va_end(list);                                \
    return open_recorded(at, path, flags, mode); \
  }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)
OPEN(openat, (int folder_fd, const char *path, int flags, ...), folder_fd)
OPEN(openat64, (int folder_fd, const char *path, int flags, ...), folder_fd)

/* A short write is completed by its caller with another one. */
static void wrote(int fd, off64_t offset, const struct iovec *parts, int count, ssize_t written) {
  uint64_t inode = inode_of(fd);
  for (int i = 0; i < count && written > 0; i++) {
    size_t length = parts[i].iov_len < (size_t)written ? parts[i].iov_len : (size_t)written;
    note(kind_of(fd) == MARKS ? MARK : WRITE, inode, offset, "", 0, parts[i].iov_base, length);
    offset += length;
    written -= length;
  }
}

static ssize_t write_recorded(int fd, const struct iovec *parts, int count, off64_t offset) {
  pthread_mutex_lock(&lock);
  off64_t at = offset;
  if (offset < 0) {
    struct stat found;
    int is_append = fcntl(fd, F_GETFL) & O_APPEND;
    at = is_append && fstat(fd, &found) == 0 ? found.st_size : lseek64(fd, 0, SEEK_CUR);
  }
  ssize_t written = offset < 0 ? syscall(SYS_writev, fd, parts, count)
                               : syscall(SYS_pwritev, fd, parts, count, (long)offset, 0L);
  int error = errno;
  wrote(fd, at, parts, count, written);
  pthread_mutex_unlock(&lock);
  errno = error;
  return written;
}

ssize_t write(int fd, const void *data, size_t length) {
  struct iovec part = {(void *)data, length};
  return kind_of(fd) ? write_recorded(fd, &part, 1, -1) : syscall(SYS_write, fd, data, length);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  struct iovec part = {(void *)data, length};
  return kind_of(fd) ? write_recorded(fd, &part, 1, offset) : syscall(SYS_pwrite64, fd, data, length, offset);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return pwrite64(fd, data, length, offset); }

ssize_t writev(int fd, const struct iovec *parts, int count) {
  return kind_of(fd) ? write_recorded(fd, parts, count, -1) : syscall(SYS_writev, fd, parts, count);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return kind_of(fd) ? write_recorded(fd, parts, count, offset) : REAL(pwritev64)(fd, parts, count, offset);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  return pwritev64(fd, parts, count, offset);
}

int ftruncate64(int fd, off64_t length) {
  if (kind_of(fd) == NOT_RECORDED) return syscall(SYS_ftruncate, fd, length);
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_ftruncate, fd, length);
  int error = errno;
  if (result == 0) note(TRUNCATE, inode_of(fd), length, "", 0, "", 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

static int sync_recorded(long call, int fd) {
  if (kind_of(fd) != RECORDED) return syscall(call, fd);
  pthread_mutex_lock(&lock);
  uint64_t number = ++syncs;
  note(SYNC_BEGIN, inode_of(fd), number, "", 0, "", 0);
  pthread_mutex_unlock(&lock);
  int result = syscall(call, fd);
  int error = errno;
  pthread_mutex_lock(&lock);
  if (result == 0) note(SYNC_END, 0, number, "", 0, "", 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}
int fsync(int fd) { return sync_recorded(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_recorded(SYS_fdatasync, fd); }

static int change_name(uint32_t type, const char *path, long call, int argument) {
  pthread_mutex_lock(&lock);
  int result = type == MKDIR ? syscall(call, path, argument) : syscall(call, path);
  int error = errno;
  struct stat found;
  if (result == 0) note_path(type, type == MKDIR && lstat(path, &found) == 0 ? found.st_ino : 0, path);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int mkdir(const char *path, mode_t mode) {
  return is_below(path) ? change_name(MKDIR, path, SYS_mkdir, mode) : syscall(SYS_mkdir, path, mode);
}
int unlink(const char *path) {
  return is_below(path) ? change_name(UNLINK, path, SYS_unlink, 0) : syscall(SYS_unlink, path);
}
int rmdir(const char *path) {
  return is_below(path) ? change_name(RMDIR, path, SYS_rmdir, 0) : syscall(SYS_rmdir, path);
}
int remove(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) ? rmdir(path) : unlink(path);
}

int rename(const char *from, const char *to) {
  if (!is_below(from) && !is_below(to)) return syscall(SYS_rename, from, to);
  char both[8192];
  pthread_mutex_lock(&lock);
  int result = syscall(SYS_rename, from, to);
  int error = errno;
  int length = snprintf(both, sizeof both, "%s%c%s", from, 0, to);
  if (result == 0) note(RENAME, 0, 0, both, length, "", 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

/* Calls that this record has no entry for. */

static void unknown(const char *what) {
  pthread_mutex_lock(&lock);
  note_path(UNKNOWN, 0, what);
  pthread_mutex_unlock(&lock);
}

void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
  int is_shared_write = (flags & MAP_SHARED) && (protection & PROT_WRITE);
  if (is_shared_write && kind_of(fd) == RECORDED && !is_shm[fd]) unknown("mmap");
  return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
}
int unlinkat(int at, const char *path, int flags) {
  if (is_below(path)) return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
  if (kind_of(at) == RECORDED) unknown("unlinkat");
  return syscall(SYS_unlinkat, at, path, flags);
}
int link(const char *from, const char *to) {
  if (is_below(to)) unknown("link");
  return syscall(SYS_link, from, to);
}
int symlink(const char *from, const char *to) {
  if (is_below(to)) unknown("symlink");
  return syscall(SYS_symlink, from, to);
}
int truncate(const char *path, off_t length) {
  if (is_below(path)) unknown("truncate");
  return syscall(SYS_truncate, path, length);
}
ssize_t sendfile64(int to, int from, off64_t *offset, size_t count) {
  if (kind_of(to) != NOT_RECORDED) unknown("sendfile");
  return syscall(SYS_sendfile, to, from, offset, count);
}
ssize_t sendfile(int to, int from, off_t *offset, size_t count) { return sendfile64(to, from, offset, count); }
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t length, unsigned int flags) {
  if (kind_of(to) != NOT_RECORDED) unknown("copy_file_range");
  return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
}
static int duplicated(int fd, int result, const char *what) {
  if (result >= 0 && kind_of(fd) != NOT_RECORDED) unknown(what);
  return result;
}
int dup(int fd) { return duplicated(fd, syscall(SYS_dup, fd), "dup"); }
int dup2(int fd, int to) { return duplicated(fd, syscall(SYS_dup2, fd, to), "dup2"); }
int dup3(int fd, int to, int flags) { return duplicated(fd, syscall(SYS_dup3, fd, to, flags), "dup3"); }
