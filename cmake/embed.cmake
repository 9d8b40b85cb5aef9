# Files inside the program, as assembler files: no compiler reads a megabyte of bytes as source.
enable_language(ASM)

# scaleworth_embed(target name file): the file as scaleworth_asset_<name> .. scaleworth_asset_<name>_end in `target`.
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
  set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${source})
endfunction()
