#pragma once

#include <sys/mman.h>

#include <cstddef>

namespace culprit::inject {

// MapZeros is memory that takes up room only where it is touched, and is never given back. Null
// when there is none.
template <typename T>
T* MapZeros(std::size_t count) {
  void* const memory = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<T*>(memory);
}

}  // namespace culprit::inject
