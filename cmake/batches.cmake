# SCALEWORTH_BATCHES: a target's sources are compiled in batches, each one translation unit, because a whole build
# spends most of its time on the same headers again and again. Built in half the time; a changed file costs more,
# and an include that is missing may go unseen. Included last, when every target has its sources. Targets with
# UNITY_BUILD off and sources with options of their own stay as they are. A batch names its sources relative to the
# project (CMake's unity builds do not), so that a compiler cache serves other checkouts.

# scaleworth_batch_candidates(target variable): the sources that may share a translation unit, as absolute paths, which
# leave the target.
function(scaleworth_batch_candidates target variable)
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  set(candidates)
  set(others)
  foreach(source IN LISTS sources)
    set(path ${source})
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${folder})
    get_source_file_property(options ${path} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    get_source_file_property(definitions ${path} TARGET_DIRECTORY ${target} COMPILE_DEFINITIONS)
    if(source MATCHES "\\.cpp$" AND EXISTS ${path} AND NOT options AND NOT definitions)
      list(APPEND candidates ${path})
    else()
      list(APPEND others ${source})
    endif()
  endforeach()
  list(LENGTH candidates count)
  if(count GREATER 1)
    set_property(TARGET ${target} PROPERTY SOURCES ${others})
    set(${variable} ${candidates} PARENT_SCOPE)
  else()
    set(${variable} "" PARENT_SCOPE)
  endif()
endfunction()

function(scaleworth_batch_target target)
  scaleworth_batch_candidates(${target} sources)
  if(NOT sources)
    return()
  endif()
  # A name that a source gains may clash in its batch: then the batches are made again.
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  execute_process(
    COMMAND awk -v limit=10 -f ${PROJECT_SOURCE_DIR}/cmake/batches.awk ${sources}
    OUTPUT_VARIABLE places COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" places "${places}")
  foreach(place IN LISTS places)
    string(REGEX MATCH "^([0-9]+) (.*)$" matched "${place}")
    cmake_path(RELATIVE_PATH CMAKE_MATCH_2 BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    string(APPEND batch_${CMAKE_MATCH_1} "#include \"${path}\"\n")
    list(APPEND batches ${CMAKE_MATCH_1})
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch IN LISTS batches)
    set(file ${PROJECT_BINARY_DIR}/batches/${target}_${batch}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "${batch_${batch}}" @ONLY)
    target_sources(${target} PRIVATE ${file})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

function(scaleworth_batch_folder folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(together ${target} UNITY_BUILD)
    if(type MATCHES "LIBRARY$|^EXECUTABLE$" AND NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT together STREQUAL "OFF")
      scaleworth_batch_target(${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    scaleworth_batch_folder(${below})
  endforeach()
endfunction()

# In a batch a header of another file may have a parameter's name, and a source is an included file.
target_compile_options(
  scaleworth_options
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
scaleworth_batch_folder(${PROJECT_SOURCE_DIR})
