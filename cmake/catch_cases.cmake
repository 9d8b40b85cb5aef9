include(Catch)

# scaleworth_catch_cases(target LABEL label [PROPERTIES name value...]): one ctest entry per case of a Catch2 program,
# called "label: name of the case".
function(scaleworth_catch_cases target)
  cmake_parse_arguments(ARG "" "LABEL" "PROPERTIES" ${ARGN})
  # Catch2 passes when it finds no case of a name: a name with a lone bracket swallows those after it in CMake's lists,
  # one with a semicolon is two.
  catch_discover_tests(
    ${target}
    TEST_PREFIX "${ARG_LABEL}: "
    PROPERTIES LABELS ${ARG_LABEL} FAIL_REGULAR_EXPRESSION "No tests ran" ${ARG_PROPERTIES}
    DISCOVERY_TIMEOUT 60)
endfunction()
