#include "plugin/persist/rank_file_header.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin/persist/crc32.h"

namespace nccl_trace {

void WriteHeader(const Image& image, const HeaderFacts& facts) {
  const Settings& settings = *facts.settings;
  const FileLayout& layout = *facts.layout;
  rank_file::FileHeader& header = image.header();
  memcpy(header.magic, rank_file::kMagic, sizeof(header.magic));
  header.endian_mark = rank_file::kEndianMark;
  header.reader_version = rank_file::kReaderVersion;
  header.writer_version = rank_file::kWriterVersion;
  header.header_bytes = rank_file::kHeaderBytes;
  header.slot_bytes = rank_file::kSlotBytes;
  header.area_count = layout.area_count;
  header.directory_offset = rank_file::kHeaderBytes;
  header.chunks_offset = layout.file_bytes;
  header.tag = facts.tag;
  memcpy(header.boot_id, facts.host->boot_id, sizeof(header.boot_id));
  header.pid_namespace = facts.host->pid_namespace;
  header.process_start = facts.host->process_start;
  header.pid = static_cast<uint32_t>(getpid());
  header.tick_source = facts.tick_source;
  header.tick_hz = facts.tick_hz;
  header.start_tick = facts.start.tick;
  header.start_realtime = facts.start.realtime;
  header.start_monotonic = facts.start.monotonic;
  header.rank = settings.rank.rank;
  header.world_size = settings.rank.world_size;
  header.local_rank = settings.rank.local_rank;
  header.mode = settings.mode;
  header.event_mask = facts.event_mask;
  header.sample_every = settings.sample_every;
  header.ring_bytes = settings.ring_bytes;
  header.max_bytes = settings.mode == rank_file::kStream ? settings.max_bytes : 0;
  header.placement = image.placement;
  header.copy_interval_ms = image.placement == rank_file::kInFile ? 0 : kCopyIntervalMs;
  header.nccl_version = facts.nccl_version;
  snprintf(header.host_name, sizeof(header.host_name), "%s", facts.host->host_name);
  snprintf(header.run_id, sizeof(header.run_id), "%s", settings.run_id);
  snprintf(header.nccl_hostid, sizeof(header.nccl_hostid), "%s", settings.nccl_hostid);
  snprintf(header.program, sizeof(header.program), "%s", facts.host->program);
  snprintf(header.ring_path, sizeof(header.ring_path), "%s", facts.ring_path);
  snprintf(header.recorder_version, sizeof(header.recorder_version), "%s", kRecorderVersion);
  DescribeSettings(settings, header.options, sizeof(header.options));
  memcpy(image.base + header.directory_offset, layout.areas, sizeof(layout.areas[0]) * layout.area_count);
  header.header_crc = 0;
  header.header_crc = Crc32(&header, rank_file::kHeaderFixedBytes);
}

}  // namespace nccl_trace
