# docs/rewrites.md has every rule and every form that the program can name, and no other. Rules are the words in quotes in
# the rules' own files that are neither an attribute's name nor of the OTHERS.
python3 -B - <<'EOF'
import glob
import os
import re

OTHERS = {"activation", "convolution", "go", "max", "min"}
root = os.environ["S0_SOURCE_DIR"]
page = open(root + "/docs/rewrites.md").read()
source = "".join(open(path).read() for path in sorted(glob.glob(root + "/src/affine/rule_*.c")))
source += open(root + "/src/affine/convolution.c").read()
source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
source = re.sub(r'\b(node_attr|node_int|node_float|node_str|node_ints|number_at|has_other)\([^"()]*"\w+"', "", source)
rules = set(re.findall(r'(?<!STR\()"([a-z]+(?:_[a-z]+)*)"', source)) - OTHERS
names = re.search(r"names\[\] = \{(.*?)\};", open(root + "/src/affine/form.c").read(), re.S).group(1)
forms = set(re.findall(r'"(\w+)"', names))
rows = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
print("in the program only:", *sorted((rules | forms) - rows) or ["none"])
print("on the page only:", *sorted(rows - rules - forms) or ["none"])
print(len(rules) >= 16, len(forms) == 8)
EOF
