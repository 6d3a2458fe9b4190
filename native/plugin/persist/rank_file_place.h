// Where the rank file lies and how it comes into being: folders, name, space, mapping. For the recorder's thread only:
// each of these calls may hang for minutes on a dead network mount.

#ifndef NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RANK_FILE_PLACE_H_
#define NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RANK_FILE_PLACE_H_

#include <limits.h>

#include "plugin/persist/image_offer.h"
#include "plugin/process/descriptor_identity.h"
#include "plugin/process/host_facts.h"
#include "plugin/process/settings.h"
#include "plugin/record/image.h"

namespace nccl_trace {

struct RankFile {
  int fd;                       // -1: there is none, and
  DescriptorIdentity identity;  // of fd
  int error;                    // errno says why
  const char* failed;           // and this what was being done
  char path[PATH_MAX];
  char real_path[PATH_MAX];  // of a file that is there: without links, as far as the kernel tells
};

/**
 * The folder `$NCCL_TRACE_DIR[/<run id>]` as an absolute path: the process may change its directory later. Empty: too
 * long.
 */
void FolderOf(const Settings& settings, char (&folder)[PATH_MAX]);

/** The name that a new file gets if it is free. Empty: too long. */
void FirstPath(const char* folder, const Settings& settings, const HostFacts& host, char (&path)[PATH_MAX]);

/**
 * A new file with room for `bytes`, which are zeros, or none at all. Never an existing one. `offer`: the file is to be
 * mapped as long as init waits for it; null: it is only written to.
 */
void CreateRankFile(const char* folder, const Settings& settings, const HostFacts& host, uint64_t bytes,
                    const ImageOffer* offer, RankFile& file);

/** The file's own pages, if its file system can be trusted with stores that must not fail or stall; else no image. */
Image MapRankFile(const RankFile& file, uint64_t bytes);

}  // namespace nccl_trace

#endif  // NCCL_TRACE_NATIVE_PLUGIN_PERSIST_RANK_FILE_PLACE_H_
