"""How soon a first visit to the page sees something, and what it loads.

python -m tests.benchmarks.page --visits 20

A server in a process of its own, the demo documents, Chromium without a cache, all on this machine.
"""

import argparse
import asyncio
import tempfile

from playwright.async_api import Browser, Response, async_playwright

from tests.benchmarks.measuring import percentile
from tests.browser.chromium import ARGUMENTS, CHROMIUM
from tests.conftest import DEMO, run_default_server

FIRST_PAINT = """() => new Promise((resolve) => {
  new PerformanceObserver((seen) => {
    for (const { name, startTime } of seen.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
  }).observe({ type: "paint", buffered: true });
})"""


async def visit(browser: Browser, url: str) -> tuple[float, list[int]]:
    """Milliseconds to the first contentful paint, and the bytes of each answer as they come over the wire."""
    context = await browser.new_context()
    page = await context.new_page()
    responses: list[Response] = []
    page.on("response", lambda response: responses.append(response))
    await page.goto(url, wait_until="networkidle")
    painted = float(await page.evaluate(FIRST_PAINT))
    sizes = [(await response.request.sizes())["responseBodySize"] for response in responses]
    await context.close()
    return painted, sizes


async def measure(url: str, visits: int) -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        seen = [await visit(browser, url) for _ in range(visits)]
        await browser.close()
    paints, sizes = [painted for painted, _ in seen], seen[-1][1]
    print(f"first contentful paint: median {percentile(paints, 0.5):.0f} ms, p95 {percentile(paints, 0.95):.0f} ms")
    print(f"a first visit loads {sum(sizes) / 1000:.0f} kB in {len(sizes)} requests")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", type=int, default=20)
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="cw-") as home,
        run_default_server("--collection", "demo", "--ingest", str(DEMO), CAUSEWAY_HOME=home) as server,
    ):
        asyncio.run(measure(server.url, arguments.visits))


if __name__ == "__main__":
    main()
