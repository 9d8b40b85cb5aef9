# Run at each build: writes OUTPUT from SOURCE_DIR's git revision and VERSION, and touches it only when it changed.
cmake_minimum_required(VERSION 3.25)

execute_process(
  COMMAND git -C ${SOURCE_DIR} rev-parse --short=12 HEAD
  OUTPUT_VARIABLE revision
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE failed)
if(failed)
  set(revision unknown)
else()
  execute_process(COMMAND git -C ${SOURCE_DIR} diff-index --quiet HEAD -- RESULT_VARIABLE modified ERROR_QUIET)
  if(modified)
    string(APPEND revision -modified)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// Written by cmake/version.cmake.
#pragma once
namespace scaleworth::generated {
inline constexpr const char* tool_version = \"@VERSION@\";
inline constexpr const char* git_revision = \"@revision@\";
}  // namespace scaleworth::generated
" @ONLY)
