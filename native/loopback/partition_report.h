// `--partition`: prints how a workload is partitioned, without running it.

#ifndef NCCL_TRACE_NATIVE_LOOPBACK_PARTITION_REPORT_H_
#define NCCL_TRACE_NATIVE_LOOPBACK_PARTITION_REPORT_H_

#include <string>

#include "loopback/options.h"

namespace loopback {

/** JSON: each operation of the script as rank 0 executes it alone (operations of one group share channels). */
std::string PartitionReport(const Options& options);

}  // namespace loopback

#endif  // NCCL_TRACE_NATIVE_LOOPBACK_PARTITION_REPORT_H_
