// Makes the rank file: folders, name, space, mapping. For the recorder's thread only: each of these calls may hang for
// minutes on a dead network mount.

#pragma once

#include <limits.h>

#include "plugin/persist/image_offer.h"
#include "plugin/process/descriptor_identity.h"
#include "plugin/process/host_facts.h"
#include "plugin/process/settings.h"
#include "plugin/record/image.h"

namespace nccl_trace {

struct RankFile {
  int fd;                       // -1: there is no file, and
  DescriptorIdentity identity;  // of fd
  int error;                    // errno of what failed
  const char* failed;           // what was being done
  char path[PATH_MAX];
  char real_path[PATH_MAX];  // of an existing file: without links, as far as the kernel tells
  char shared[96];           // who else can change its folder, for people. Empty: nobody
};

/**
 * The folder `$NCCL_TRACE_DIR[/<run id>]` as an absolute path, because the process may change its directory later. Empty
 * if it is too long.
 */
void FolderOf(const Settings& settings, char (&folder)[PATH_MAX]);

/** The name that a new file gets if it is free. Empty if it is too long. */
void FirstPath(const char* folder, const Settings& settings, const HostFacts& host, char (&path)[PATH_MAX]);

/**
 * Makes a new file of `bytes` zeros, or none at all. Never takes an existing one. `offer`: the file will be mapped if init
 * still waits for it. Null: it is only written to.
 */
void CreateRankFile(const char* folder, const Settings& settings, const HostFacts& host, uint64_t bytes,
                    const ImageOffer* offer, RankFile& file);

/** Maps the file if stores into it cannot fail or stall on its file system. Else returns no image. */
Image MapRankFile(const RankFile& file, uint64_t bytes);

}  // namespace nccl_trace
