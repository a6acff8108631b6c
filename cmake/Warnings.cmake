# One set of warnings and sanitizers for every target, as interface libraries; warnings apart, for
# what runs in other processes.
add_library(culprit_warnings INTERFACE)
add_library(culprit_options INTERFACE)
target_link_libraries(culprit_options INTERFACE culprit_warnings)
target_compile_options(culprit_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
                       -Wno-missing-field-initializers)  # designated initializers leave defaults
# GCC 12 sees overlapping copies inside std::string::insert and replace when it optimizes; there are
# none (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(culprit_warnings INTERFACE -Wno-restrict)
endif()
if(CULPRIT_WERROR)
  target_compile_options(culprit_warnings INTERFACE -Werror)
endif()
if(CULPRIT_SANITIZE)
  target_compile_options(culprit_options INTERFACE -fsanitize=${CULPRIT_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(culprit_options INTERFACE -fsanitize=${CULPRIT_SANITIZE})
endif()
