# SPDX-License-Identifier: Apache-2.0
# room(NAME <room> [DEPS <rooms>] [THIRD_PARTY <include prefixes>] [LIBS <targets>]
#      HEADERS ... [SOURCES ...] [TESTS ...] [TEST_LIBS <targets>])
#
# One call makes a room: the static library negawatt_<room>, the <room>_test binary with its tests
# registered (label 'unit'), and the test layering.<room>, which fails when a file of the room
# includes anything but its own room, DEPS, the standard library and THIRD_PARTY.
# Sources that are generated are named by absolute path.
function(room)
  cmake_parse_arguments(ROOM "" "NAME" "DEPS;THIRD_PARTY;LIBS;HEADERS;SOURCES;TESTS;TEST_LIBS"
                        ${ARGN})
  set(target negawatt_${ROOM_NAME})
  list(TRANSFORM ROOM_DEPS PREPEND negawatt_ OUTPUT_VARIABLE dep_targets)

  if(ROOM_SOURCES)
    add_library(${target} STATIC ${ROOM_SOURCES})
    target_link_libraries(${target} PUBLIC ${dep_targets} ${ROOM_LIBS} PRIVATE negawatt_flags)
    set(visibility PUBLIC)
  else()  # declarations only
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${dep_targets} ${ROOM_LIBS})
    set(visibility INTERFACE)
  endif()
  # A header can be included on its own: the source that has its name includes it first, which the
  # layering test demands; all_verify_interface_header_sets compiles those without such a source.
  set(with_source ${ROOM_SOURCES})
  list(TRANSFORM with_source REPLACE "\\.cpp$" ".hpp")
  set(alone ${ROOM_HEADERS})
  list(REMOVE_ITEM alone ${with_source})
  set(accompanied ${ROOM_HEADERS})
  if(alone)
    list(REMOVE_ITEM accompanied ${alone})
  endif()
  target_sources(${target} ${visibility}
    FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${alone}
    FILE_SET accompanied TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src FILES ${accompanied})
  set_target_properties(${target} PROPERTIES
    VERIFY_INTERFACE_HEADER_SETS ON INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)

  if(NOT NEGAWATT_TESTS)
    return()
  endif()
  set(generated ${ROOM_SOURCES} ${ROOM_HEADERS})
  list(FILTER generated INCLUDE REGEX "^/")  # the others lie in the room's folder
  add_test(NAME layering.${ROOM_NAME}
    COMMAND ${PROJECT_SOURCE_DIR}/tools/layering
            ${ROOM_NAME} "${ROOM_DEPS}" "${ROOM_THIRD_PARTY}" ${generated})
  set_tests_properties(layering.${ROOM_NAME} PROPERTIES
    LABELS house WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(ROOM_TESTS)
    test_executable(${ROOM_NAME}_test SOURCES ${ROOM_TESTS} LIBS ${target} ${ROOM_TEST_LIBS})
    # Properties are tried on the same instances every time; run the binary by itself for fresh ones.
    gtest_discover_tests(${ROOM_NAME}_test PROPERTIES LABELS unit ENVIRONMENT "RC_PARAMS=seed=1")
  endif()
endfunction()
