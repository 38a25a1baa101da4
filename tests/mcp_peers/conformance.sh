#!/bin/sh
# Runs every client scenario of the MCP conformance suite against our toolbox, one after another.
# What is listed in conformance_baseline.yml has to fail, everything else has to pass.
set -u
cd "$(dirname "$0")/../.."
peers=tests/mcp_peers
python=${PYTHON:-.venv/bin/python}
node=$(ls $peers/node_modules/node-linux-*/bin/node 2>/dev/null | head -n 1)
suite=$peers/node_modules/@modelcontextprotocol/conformance/dist/index.js
if [ -z "$node" ] || [ ! -f "$suite" ]; then
  echo "!!! The MCP conformance suite is not installed (make peers): CONFORMANCE WAS NOT CHECKED !!!"
  exit 0
fi

results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
failed=
for scenario in $("$node" "$suite" list --client | sed -n 's/^ *- \([^ ]*\).*/\1/p'); do
  if "$node" "$suite" client --command "$python -m tests.mcp_peers.conformance_client" \
    --scenario "$scenario" --timeout 120000 --output-dir "$results" \
    --expected-failures $peers/conformance_baseline.yml >"$results/said" 2>&1
  then
    echo "ok    $scenario"
  else
    echo "WRONG $scenario"
    cat "$results/said"
    failed="$failed $scenario"
  fi
done
if [ -n "$failed" ]; then
  echo "Not as the baseline says:$failed"
  exit 1
fi
