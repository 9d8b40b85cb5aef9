# Files inside the program, as assembler files: no compiler reads a megabyte of bytes as source.
enable_language(ASM)

# scaleworth_embed(target name file): the file in `target`, whose sources get it by scaleworth::asset::<name>() of
# "assets/<name>.h". Both lie from scaleworth_asset_<name> to scaleworth_asset_<name>_end.
function(scaleworth_embed target name file)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.S)
  set(symbol scaleworth_asset_${name})
  file(CONFIGURE OUTPUT ${source} CONTENT [[
  .section .rodata
  .global @symbol@, @symbol@_end
@symbol@:
  .incbin "@file@"
@symbol@_end:
  .byte 0
  .section .note.GNU-stack,"",%progbits
]] @ONLY)
  set(headers ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(CONFIGURE OUTPUT ${headers}/assets/${name}.h CONTENT [[
#pragma once

#include <string_view>

extern "C" {
extern const char @symbol@[];
extern const char @symbol@_end[];
}

namespace scaleworth::asset {
inline std::string_view @name@() { return {@symbol@, @symbol@_end}; }
}
]] @ONLY)
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${source})
  target_include_directories(${target} PRIVATE ${headers})
endfunction()
