#!/usr/bin/env python3
"""Holds JSON files against a JSON schema: check_schema.py SCHEMA FILE..."""

import json
import pathlib
import sys

SKIPPED = 77  # SKIP_RETURN_CODE in tests/CMakeLists.txt

try:
    import jsonschema
except ImportError:
    print("skipped: no file was checked, because the Python package jsonschema is absent "
          "(Debian: python3-jsonschema)")
    sys.exit(SKIPPED)


def main(schema_path, *paths):
    schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    failed = False
    for path in paths:
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        for error in validator.iter_errors(document):
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
