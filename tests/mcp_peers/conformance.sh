#!/bin/sh
# Runs every client scenario of the MCP conformance suite against our toolbox, some side by side.
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

run_scenario() {
  results=$(mktemp -d)
  if "$node" "$suite" client --command "$python -m tests.mcp_peers.conformance_client" \
    --scenario "$1" --timeout 120000 --output-dir "$results" \
    --expected-failures $peers/conformance_baseline.yml >"$results/said" 2>&1
  then
    echo "ok    $1"
    result=0
  else
    echo "WRONG $1"
    cat "$results/said"
    result=1
  fi
  rm -rf "$results"
  return $result
}

if [ $# -eq 1 ]; then
  run_scenario "$1"
  exit
fi
# xargs fails when one of them does.
scenarios=$("$node" "$suite" list --client | sed -n 's/^ *- \([^ ]*\).*/\1/p')
[ -n "$scenarios" ] || { echo "The MCP conformance suite names no scenario"; exit 1; }
if ! echo "$scenarios" | PYTHON=$python xargs -n 1 -P 4 $peers/conformance.sh; then
  echo "Not as the baseline says: see the scenarios that are WRONG"
  exit 1
fi
