# Whether warnings are errors stands in a file of options, which is no part of a compiler's command: turning it on or off
# (scripts/test has it on, scripts/bench off) compiles nothing again.
set(SCALEWORTH_WERROR_CXX ${PROJECT_BINARY_DIR}/werror.cxx)
set(SCALEWORTH_WERROR_CUDA ${PROJECT_BINARY_DIR}/werror.cuda)
file(GENERATE OUTPUT ${SCALEWORTH_WERROR_CXX} CONTENT "$<$<BOOL:${SCALEWORTH_WERROR}>:-Werror>\n")
file(GENERATE OUTPUT ${SCALEWORTH_WERROR_CUDA}
     CONTENT "$<$<BOOL:${SCALEWORTH_WERROR}>:-Werror=all-warnings -Xcompiler=-Werror>\n")

# Warnings and sanitizers as one INTERFACE target; every target of ours links it privately.
add_library(scaleworth_options INTERFACE)
target_compile_features(scaleworth_options INTERFACE cxx_std_20)
target_compile_options(
  scaleworth_options
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall
            -Wextra
            -Wpedantic
            -Wshadow
            -Wconversion
            -Wno-sign-conversion
            -Wnon-virtual-dtor
            -Woverloaded-virtual>
            $<$<COMPILE_LANGUAGE:CXX>:@${SCALEWORTH_WERROR_CXX}>)
# Within a batch (CMAKE_UNITY_BUILD) a source sees the anonymous namespaces of those before it: a local name that hides one
# of them is no mistake, and a type that uses them is no type of a header.
if(CMAKE_UNITY_BUILD)
  target_compile_options(
    scaleworth_options
    INTERFACE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-shadow
              -Wshadow=local
              -Wno-subobject-linkage>
              $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-shadow>)
endif()
# g++ 12 has no -ffp-contract surprise for us to rely on: sums and ratios are what the source says.
target_compile_options(scaleworth_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
target_include_directories(scaleworth_options INTERFACE ${PROJECT_SOURCE_DIR})
if(SCALEWORTH_SANITIZE)
  target_compile_options(scaleworth_options INTERFACE -fsanitize=${SCALEWORTH_SANITIZE}
                                                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(scaleworth_options INTERFACE -fsanitize=${SCALEWORTH_SANITIZE})
endif()

# scaleworth_library(name SOURCES... ) - a static library of one folder, with the common options.
function(scaleworth_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PRIVATE scaleworth_options)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  # Fuzzers are guided by the branches that the product takes. In tests, counting them would cost a fifth of their time.
  if(SCALEWORTH_FUZZ)
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# scaleworth_precompile(name [REUSE other]) - the standard library and fmt, read once for all sources of a library, or of
# several that have the same compiler options. Reading them took a third of the build. Sources with options of their own
# set SKIP_PRECOMPILE_HEADERS.
function(scaleworth_precompile name)
  cmake_parse_arguments(ARG "" "REUSE" "" ${ARGN})
  if(ARG_REUSE)
    target_precompile_headers(${name} REUSE_FROM ${ARG_REUSE})
  else()
    target_precompile_headers(
      ${name}
      PRIVATE
      <algorithm>
      <array>
      <chrono>
      <cmath>
      <cstdint>
      <filesystem>
      <functional>
      <map>
      <memory>
      <numeric>
      <optional>
      <set>
      <span>
      <string>
      <string_view>
      <unordered_map>
      <utility>
      <variant>
      <vector>
      <fmt/format.h>
      <fmt/ranges.h>)
  endif()
  # g++ 12 no longer knows system headers as such when they were precompiled, and warns of its own std::string.
  target_compile_options(
    ${name} PRIVATE "$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess;-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>")
endfunction()
