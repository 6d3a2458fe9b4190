// Which of the loaded libraries a function is in.

#pragma once

#include <link.h>
#include <string.h>

namespace nccl_trace {

/** True if the file name of the library that has `address` contains `name`. The program itself has no name here. */
inline bool IsInLibrary(const void* address, const char* name) {
  struct Search {
    uintptr_t address;
    const char* name;
  } search = {reinterpret_cast<uintptr_t>(address), name};
  // Not dladdr: it is in another library before glibc 2.34.
  const auto look = [](dl_phdr_info* library, size_t, void* data) {
    const Search& wanted = *static_cast<Search*>(data);
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const auto& segment = library->dlpi_phdr[i];
      // An address below the segment wraps around and is far behind it.
      if (segment.p_type != PT_LOAD || wanted.address - (library->dlpi_addr + segment.p_vaddr) >= segment.p_memsz)
        continue;
      const char* slash = strrchr(library->dlpi_name, '/');
      return strstr(slash != nullptr ? slash : library->dlpi_name, wanted.name) != nullptr ? 1 : -1;
    }
    return 0;
  };
  return dl_iterate_phdr(look, &search) > 0;
}

}  // namespace nccl_trace
