# What a portable build offers for download, in BUILD/packages, each with its SHA-256: the targets `tarball` and `wheel`.
# Both pack one installation, BUILD/stage, which the target `stage` makes and checks.
if(SCALEWORTH_PORTABLE)
  add_custom_target(
    stage
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/lib/stage ${PROJECT_BINARY_DIR} ${PROJECT_VERSION}
    USES_TERMINAL VERBATIM)
  add_dependencies(stage product)
  foreach(kind tarball wheel)
    add_custom_target(
      ${kind}
      COMMAND ${PROJECT_SOURCE_DIR}/scripts/lib/pack ${kind} ${PROJECT_BINARY_DIR}/stage ${PROJECT_VERSION}
              ${PROJECT_BINARY_DIR}/packages
      USES_TERMINAL VERBATIM)
    add_dependencies(${kind} stage)
  endforeach()
endif()
