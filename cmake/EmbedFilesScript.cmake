set(body "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  # A string literal may hold 64 KiB; rule files are far smaller.
  string(APPEND body "    {\"${name}\", R\"_embed_(${text})_embed_\"},\n")
endforeach()
file(WRITE "${OUT}"
"// Generated from ${SYMBOL}'s files.
#include <string_view>
#include <utility>
#include <vector>
namespace ${NAMESPACE} {
extern const std::vector<std::pair<std::string_view, std::string_view>> ${SYMBOL};
const std::vector<std::pair<std::string_view, std::string_view>> ${SYMBOL} = {
${body}};
}  // namespace ${NAMESPACE}
")
