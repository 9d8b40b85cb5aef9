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
            $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${SCALEWORTH_WERROR}>>:-Werror>)
# g++ 12 has no -ffp-contract surprise for us to rely on: sums and ratios are what the source says.
target_compile_options(scaleworth_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
target_include_directories(scaleworth_options INTERFACE ${PROJECT_SOURCE_DIR})
if(SCALEWORTH_SANITIZE)
  target_compile_options(scaleworth_options INTERFACE -fsanitize=${SCALEWORTH_SANITIZE}
                                                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  string(REPLACE "fuzzer-no-link," "" sanitize_link "${SCALEWORTH_SANITIZE}")
  target_link_options(scaleworth_options INTERFACE -fsanitize=${sanitize_link})
endif()

# scaleworth_library(name SOURCES... ) - a static library of one folder, with the common options.
function(scaleworth_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PRIVATE scaleworth_options)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()
