# A layer is a folder of src/ and a static library culprit_<folder> that links only its row of
# layers.txt. x_test.cc beside x.cc goes into <folder>_test; cli/main.cc into the program.

function(culprit_add_layers table)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
  file(STRINGS "${table}" rows REGEX "^[a-z]+:")
  set(layers "")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([a-z]+):([^#]*)" _ "${row}")
    set(layer "${CMAKE_MATCH_1}")
    string(STRIP "${CMAKE_MATCH_2}" allowed)
    separate_arguments(allowed)
    list(APPEND layers ${layer})

    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "src/${layer}/*.cc")
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    list(FILTER sources EXCLUDE REGEX "/cli/main\\.cc$")
    list(TRANSFORM allowed PREPEND culprit_)
    add_library(culprit_${layer} STATIC ${sources})
    target_include_directories(culprit_${layer} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/src")
    target_link_libraries(culprit_${layer} PUBLIC culprit_options ${external_${layer}} ${allowed})
  endforeach()
  set(CULPRIT_LAYERS ${layers} PARENT_SCOPE)

  add_executable(culprit src/cli/main.cc)
  target_link_libraries(culprit PRIVATE culprit_cli)
  target_compile_definitions(culprit PRIVATE CULPRIT_VERSION="${PROJECT_VERSION}")
  target_compile_definitions(culprit_cli PRIVATE CULPRIT_VERSION="${PROJECT_VERSION}")
endfunction()

# Tests are run once for each time they are compiled: what they test is optimized, they are not.
# Tests with Thread in their name get the label "threads": they run under ThreadSanitizer as well.
function(culprit_add_layer_tests)
  if(NOT GTest_FOUND)
    message(WARNING "GoogleTest is not here: building without the unit tests")
    return()
  endif()
  foreach(layer IN LISTS CULPRIT_LAYERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "src/${layer}/*_test.cc")
    if(sources)
      add_executable(${layer}_test ${sources})
      target_link_libraries(${layer}_test PRIVATE culprit_${layer} GTest::gmock_main)
      target_compile_options(${layer}_test PRIVATE -O0)
      target_compile_definitions(${layer}_test PRIVATE
        CULPRIT_SOURCE_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
      gtest_discover_tests(${layer}_test TEST_PREFIX "${layer}/" DISCOVERY_TIMEOUT 60
                           TEST_FILTER "-*Thread*" PROPERTIES LABELS unit)
      gtest_discover_tests(${layer}_test TEST_PREFIX "${layer}/" DISCOVERY_TIMEOUT 60
                           TEST_FILTER "*Thread*" PROPERTIES LABELS threads
                           TEST_LIST ${layer}_test_THREADS)
    endif()
  endforeach()
endfunction()
