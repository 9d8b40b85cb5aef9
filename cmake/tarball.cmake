# The target `tarball` of a portable build: scaleworth-<version>-linux-<machine>.tar.gz in the build folder.
if(SCALEWORTH_PORTABLE)
  add_custom_target(
    tarball
    COMMAND ${PROJECT_SOURCE_DIR}/scripts/tarball ${PROJECT_BINARY_DIR} ${PROJECT_VERSION}
    USES_TERMINAL VERBATIM)
  add_dependencies(tarball product)
endif()
