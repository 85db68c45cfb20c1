# Writes presets.c: the text of the device files as byte arrays. A script:
#   cmake -DOUT=presets.c -DFILES=a.ini;b.ini -P embed.cmake
# Byte arrays and not literals: ISO C promises literals of 4095 bytes only.
set(arrays "")
set(table "")
set(index 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" lines "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${lines}")
  string(APPEND arrays "/* ${name} */\nstatic const char text_${index}[] = {\n${bytes}'\\0'};\n\n")
  string(APPEND table "    {\"${name}\", text_${index}},\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUT} "/* The preset devices. Generated from the files of devices/ by cmake/embed.cmake. */
#include \"device/device.h\"

${arrays}const DevicePreset device_presets[] = {
${table}};
const size_t device_preset_count = sizeof device_presets / sizeof device_presets[0];
")
