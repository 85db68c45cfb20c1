# What bench_kern is made of beside its own file: candidates, with peers where they are installed. Without one it builds
# as well and names what it skips.
set(folder ${CMAKE_CURRENT_LIST_DIR})
file(GLOB kern_sources CONFIGURE_DEPENDS ${folder}/*.c)
list(REMOVE_ITEM kern_sources ${folder}/naive_loops.c)
set(kern_defines)
set(kern_libraries ${CMAKE_DL_LIBS} m)
set(simd)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(simd -mavx2)
endif()

# compiled(COMPILER SOURCE OBJECT flags...): an object by a compiler that is not the project's.
function(compiled compiler source object)
  add_custom_command(OUTPUT ${object} VERBATIM DEPENDS ${folder}/${source} ${folder}/naive_loops.h
    COMMAND ${compiler} -O3 ${simd} ${ARGN} -fPIC -ffp-contract=off -Wall -Wextra -c ${folder}/${source} -o ${object})
endfunction()

# first_line(OUT command...): the first line that it prints, to name a version.
function(first_line out)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said ERROR_QUIET)
  string(REGEX REPLACE "\n.*" "" said "${said}")
  set(${out} "${said}" PARENT_SCOPE)
endfunction()

foreach(compiler gcc clang)
  find_program(BENCH_${compiler} ${compiler})
  if(BENCH_${compiler})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/naive_${compiler}.o)
    compiled(${BENCH_${compiler}} naive_loops.c ${object} -std=c11 -DNAIVE_NAME=naive_loops_${compiler})
    list(APPEND kern_sources ${object})
    first_line(version ${BENCH_${compiler}} --version)
    string(TOUPPER ${compiler} upper)
    list(APPEND kern_defines "BENCH_${upper}=\"${version}, -O3 ${simd}\"")
  endif()
endforeach()

find_program(BENCH_GXX g++)
find_path(BENCH_EIGEN_INCLUDE Eigen/Core PATH_SUFFIXES eigen3)
if(BENCH_GXX AND BENCH_EIGEN_INCLUDE)
  compiled(${BENCH_GXX} peer_eigen.cc ${CMAKE_CURRENT_BINARY_DIR}/peer_eigen.o -std=c++17 -DNDEBUG
           -isystem ${BENCH_EIGEN_INCLUDE})
  list(APPEND kern_sources ${CMAKE_CURRENT_BINARY_DIR}/peer_eigen.o)
  list(APPEND kern_defines BENCH_EIGEN)
  first_line(standard_library ${BENCH_GXX} -print-file-name=libstdc++.so)
  list(APPEND kern_libraries ${standard_library})
endif()

find_path(BENCH_ONEDNN_INCLUDE oneapi/dnnl/dnnl.h)
find_library(BENCH_ONEDNN_LIBRARY dnnl)
if(BENCH_ONEDNN_INCLUDE AND BENCH_ONEDNN_LIBRARY)
  list(APPEND kern_defines BENCH_ONEDNN)
  list(APPEND kern_libraries ${BENCH_ONEDNN_LIBRARY})
endif()

find_path(BENCH_XNNPACK_INCLUDE xnnpack.h)
find_library(BENCH_XNNPACK_LIBRARY XNNPACK)
find_library(BENCH_PTHREADPOOL_LIBRARY pthreadpool)
if(BENCH_XNNPACK_INCLUDE AND BENCH_XNNPACK_LIBRARY AND BENCH_PTHREADPOOL_LIBRARY)
  first_line(version dpkg-query -W -f "\${Version}" libxnnpack-dev)
  list(APPEND kern_defines "BENCH_XNNPACK=\"${version}\"")
  list(APPEND kern_libraries ${BENCH_XNNPACK_LIBRARY} ${BENCH_PTHREADPOOL_LIBRARY})
endif()

# Models for each number of channels in row.c; whether the runtime is there is seen when it is started.
find_program(BENCH_NODE node)
execute_process(COMMAND ${PYTHON3} -c "import onnx" RESULT_VARIABLE no_onnx OUTPUT_QUIET ERROR_QUIET)
set(kern_models)
if(BENCH_NODE AND no_onnx EQUAL 0)
  set(models ${CMAKE_CURRENT_BINARY_DIR}/kern_models)
  set(kern_models ${CMAKE_CURRENT_BINARY_DIR}/kern_models.stamp)
  add_custom_command(OUTPUT ${kern_models} DEPENDS ${folder}/ort_models.py VERBATIM
    COMMAND ${PYTHON3} ${folder}/ort_models.py ${models} 1 3 12 64 70 128 256 1024
    COMMAND ${CMAKE_COMMAND} -E touch ${kern_models})
  list(APPEND kern_defines BENCH_ORT "BENCH_ORT_CHILD=\"${folder}/ort_child.mjs\"" "BENCH_ORT_MODELS=\"${models}\""
       "BENCH_ORT_PACKAGES=\"${CMAKE_SOURCE_DIR}/build/ort\"")
endif()

# Of the library what affines need: it is built fast.
list(APPEND kern_sources ${CMAKE_SOURCE_DIR}/src/api_affine.c ${CMAKE_SOURCE_DIR}/src/prepared.c)
target_sources(bench_kern PRIVATE ${kern_sources} ${kern_models})
target_compile_definitions(bench_kern PRIVATE ${kern_defines}
  "BENCH_COMPILER=\"${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\"")
target_link_libraries(bench_kern PRIVATE s0_native ${kern_libraries})
