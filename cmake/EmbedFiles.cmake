# Puts text files into the program: <symbol> becomes a std::vector of {file name, content}, declared
# by the layer that uses it.
function(culprit_embed_files layer namespace symbol pattern)
  file(GLOB files CONFIGURE_DEPENDS "${pattern}")
  list(SORT files)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cc")
  add_custom_command(
    OUTPUT "${out}"
    COMMAND ${CMAKE_COMMAND} "-DOUT=${out}" "-DNAMESPACE=${namespace}" "-DSYMBOL=${symbol}"
            "-DFILES=${files}" -P "${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake"
    DEPENDS ${files} "${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedFilesScript.cmake"
    VERBATIM)
  target_sources(culprit_${layer} PRIVATE "${out}")
endfunction()
