# A library to preload into someone else's process: no layer, no sanitizer, no run-time library of
# C++. It lies beside the program in the build tree, and in ../lib/culprit from it when installed.
function(culprit_add_injected name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE culprit_warnings)
  target_compile_options(${name} PRIVATE -O2 -fno-exceptions -fno-rtti -fno-threadsafe-statics
                         -fvisibility=hidden)
  target_link_options(${name} PRIVATE -Wl,--as-needed -Wl,-z,nodelete -Wl,--no-undefined)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "$<TARGET_FILE_DIR:culprit>")
  add_dependencies(culprit ${name})
  install(TARGETS ${name} LIBRARY DESTINATION lib/culprit)
endfunction()
