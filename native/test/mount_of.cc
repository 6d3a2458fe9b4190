// Which mount a path lies on.

#include "plugin/process/mount_of.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "test/check.h"

using nccl_trace::Mount;
using nccl_trace::MountOf;

namespace {

constexpr char kTable[] =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "30 22 0:26 / /dev/shm rw,nosuid - tmpfs tmpfs rw\n"
    "40 22 0:40 / /data rw - xfs /dev/vdb rw\n"
    "41 40 0:41 / /data/far rw,nosuid shared:7 master:2 - fuse.sshfs host:/x rw,user_id=0\n"
    "42 22 0:42 / /with\\040blank rw - fuseblk /dev/vdc rw\n"
    "50 22 0:50 / /twice rw - fuse one rw\n"
    "51 50 0:51 / /twice rw - ext4 /dev/vdd rw\n"
    "not a line of it\n";

void Expect(const char* table, const char* path, uint64_t id, bool is_fuse) {
  const Mount mount = MountOf(path, table);
  CHECK_EQ(mount.id, id);
  CHECK_EQ(mount.is_fuse, is_fuse);
}

}  // namespace

int main() {
  char table[] = "/tmp/nccl-trace-mounts-XXXXXX";
  const int fd = mkstemp(table);
  CHECK(write(fd, kTable, sizeof(kTable) - 1) == sizeof(kTable) - 1);
  close(fd);
  Expect(table, "/home/a/rank.bin", 22, false);
  Expect(table, "/", 22, false);
  Expect(table, "/data/rank.bin", 40, false);
  Expect(table, "/data/far/rank.bin", 41, true);
  Expect(table, "/data/far", 41, true);
  Expect(table, "/data/farther/rank.bin", 40, false);  // beside it
  Expect(table, "/with blank/rank.bin", 42, true);
  Expect(table, "/twice/rank.bin", 51, false);
  unlink(table);
  Expect(table, "/data/far/rank.bin", 0, false);  // no table
  CHECK(MountOf("/proc/self/stat").id != MountOf("/").id);
  return nccl_trace_test::Passed();
}
